import { describe, expect, test } from "vitest";
import type { VendorEvent } from "./framing/framing.ts";
import { sseFraming } from "./framing/sse.ts";
import type { Protocol } from "./protocol.ts";
import { anthropicMessagesProtocol } from "./protocols/anthropic-messages/protocol.ts";
import { geminiProtocol } from "./protocols/gemini/protocol.ts";
import { createOpenaiChatProtocol } from "./protocols/openai-chat/protocol.ts";
import { openaiResponsesProtocol } from "./protocols/openai-responses/protocol.ts";
import { decode, plainContext } from "./testing/decode.ts";
import type { Decoded } from "./testing/decode.ts";
import { summaryOf } from "./testing/expectation.ts";
import { quirkBytes, quirkProtocols, quirksOf } from "./testing/quirks.ts";
import type { Quirk } from "./testing/quirks.ts";

function read<State>(protocol: Protocol<VendorEvent, State>, quirk: Quirk): Decoded {
  const context = { ...plainContext, tools: quirk.tools ?? [] };
  return decode(protocol, sseFraming(), [quirkBytes(protocol.id, quirk)], { context });
}

const readers: Readonly<Record<(typeof quirkProtocols)[number], (quirk: Quirk) => Decoded>> = {
  "openai-chat": (quirk) => read(createOpenaiChatProtocol(quirk.options), quirk),
  "openai-responses": (quirk) => read(openaiResponsesProtocol, quirk),
  "anthropic-messages": (quirk) => read(anthropicMessagesProtocol, quirk),
  gemini: (quirk) => read(geminiProtocol, quirk),
};

const page = /^https:\/\/[\w.-]+\.[a-z]+\/\S+$/;

describe.each(quirkProtocols)("what servers of %s send in their own way", (protocol) => {
  const quirks = quirksOf(protocol);

  test.each(quirks)("$server, $name: $about", (quirk) => {
    const decoded = readers[protocol](quirk);
    expect(decoded.draft.fault).toBeUndefined();
    expect(summaryOf(decoded, quirk.expect)).toEqual(quirk.expect);
  });

  test("every row has a name of its own and links to public pages", () => {
    expect(new Set(quirks.map(({ name }) => name)).size).toBe(quirks.length);
    const unlinked = quirks.filter(
      ({ links }) => links.length === 0 || !links.every((link) => page.test(link)),
    );
    expect(unlinked).toEqual([]);
    console.log(`count: quirks of ${protocol}, ${quirks.length} rows, 0 failures`);
  });
});

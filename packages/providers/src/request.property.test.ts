import type { ModelRequest, Transcript } from "@millrace/core";
import { describe, expect, test } from "vitest";
import type { VendorEvent } from "./framing/framing.ts";
import type { Protocol } from "./protocol.ts";
import { anthropicMessages } from "./protocols/anthropic-messages/protocol.ts";
import { gemini } from "./protocols/gemini/protocol.ts";
import { openAiChat } from "./protocols/openai-chat/protocol.ts";
import { openAiResponses } from "./protocols/openai-responses/protocol.ts";
import { nativeReplies } from "./testing/native-replies.ts";
import { brokenLaws, shrinkRequest } from "./testing/request-laws.ts";
import type { Target } from "./testing/request-laws.ts";
import { runs } from "../../../tests/kit/runs.ts";
import { generateRequest } from "./testing/transcripts.ts";
import type { Native } from "./testing/transcripts.ts";
import { validateAnthropicMessages } from "./testing/validators/anthropic-messages.ts";
import { validateGemini } from "./testing/validators/gemini.ts";
import { validateOpenAiChat } from "./testing/validators/openai-chat.ts";
import { validatePairs } from "./testing/validators/openai-responses-pairs.ts";
import { validateOpenAiResponses } from "./testing/validators/openai-responses.ts";

type Asked = Target & Native;

function asked<State>(
  protocol: Protocol<VendorEvent, State>,
  model: string,
  validate: Target["validate"],
): Asked {
  return {
    protocol: protocol.id,
    model,
    ...nativeReplies(protocol),
    request: (request) => protocol.request(request, { model }),
    validate,
  };
}

/** Imitators' fields go back only to the server that sent them. */
function hasExtensions(transcript: Transcript): boolean {
  return transcript.some(
    ({ model, parts }) => model === "openai-chat/gpt-5" && parts.some((part) => "opaque" in part),
  );
}

/** What fixtures hold that no version of ours knows. It goes back as it came. */
const later = ["hologram", "mcp_tool_listing"];

const natives: readonly Asked[] = [
  asked(openAiChat, "gpt-5", (body, transcript) =>
    validateOpenAiChat(body, { extensions: hasExtensions(transcript) }),
  ),
  asked(openAiResponses, "gpt-5", (body, transcript) => [
    ...validateOpenAiResponses(body),
    ...validatePairs(body, transcript, "openai-responses/gpt-5"),
  ]),
  asked(anthropicMessages, "claude-sonnet-4-5", (body) =>
    validateAnthropicMessages(body, { later }),
  ),
  ...["gemini-3-pro-preview", "gemini-2.5-flash"].map((model) =>
    asked(gemini, model, (body) => validateGemini(body, { model, later })),
  ),
];

/** One target of each protocol: the transcript's own, if it is of that protocol. */
function targetsOf(home: Native, seed: number): readonly Asked[] {
  const [chat, responses, messages, ...others] = natives;
  const other = others.find((target) => target === home) ?? others[seed % others.length];
  return [chat, responses, messages, other].filter((target) => target !== undefined);
}

/** Settings are a vendor's own, so they go to the one that they are for. */
function requestFor(
  target: Asked,
  request: ModelRequest & { readonly home: Native },
): ModelRequest {
  const { home, ...rest } = request;
  return home === target ? rest : { ...rest, settings: undefined };
}

/** The same fault in another place is the same fault. */
function faultOf(law: string): string {
  return law
    .replaceAll(/\[\d+\]/g, "[]")
    .replace(/: [^:]*$/, (tail) => tail.replaceAll(/\d/g, "0"));
}

function report(target: Target, seed: number, request: ModelRequest, law: string): string {
  const fault = faultOf(law);
  const smallest = shrinkRequest(request, (smaller) =>
    brokenLaws(target, smaller).some((each) => faultOf(each) === fault),
  );
  return `${target.protocol}/${target.model}, seed ${seed}: ${law}\n${JSON.stringify(smallest)}`;
}

describe("requests", () => {
  const count = runs(200_000, 20_000_000);

  test(
    "what is made of any transcript is a request that its vendor takes, with nothing lost or betrayed",
    { timeout: 600_000 * (count / 200_000) },
    () => {
      const first = Number(process.env["SEED"] ?? 1);
      const found = new Map<string, string>();
      for (let seed = first; seed < first + count; seed += 1) {
        const generated = generateRequest(seed, natives);
        for (const target of targetsOf(generated.home, seed)) {
          const request = requestFor(target, generated);
          const [law] = brokenLaws(target, request);
          if (law === undefined) continue;
          const fault = `${target.protocol} ${faultOf(law)}`;
          if (!found.has(fault)) found.set(fault, report(target, seed, request, law));
          if (found.size > 20) break;
        }
      }

      expect([...found.values()].join("\n\n")).toBe("");
      const laws = "a request is valid and keeps all words and results and betrays nothing";
      console.log(`count: ${laws}, ${count} transcripts x 4 dialects, 0 failures`);
    },
  );
});

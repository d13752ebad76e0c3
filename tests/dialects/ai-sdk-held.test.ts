import { defineAgent } from "@millrace/agent";
import { say, scriptedModel } from "@millrace/core/testing";
import { expect, test } from "vitest";
import { apiOf, openChat, versions } from "./kit/chat.ts";
import type { HeldMessage, Version } from "./kit/chat.ts";
import { Served } from "./kit/served.ts";

// A page was cut off in the middle of an attempt that came to nothing, and sends its messages again.
test.each(versions)(
  "a page of AI SDK %i that holds a piece of another attempt is asked to load anew, and keeps no two",
  async (version) => {
    await using served = new Served(
      defineAgent({ model: scriptedModel([[say("The sky is blue.")]]) }),
    );
    const ask = (url: string, init: RequestInit): Promise<Response> =>
      served.millrace.fetch(new Request(url, init));
    const open = (messages: readonly HeldMessage[]) =>
      openChat(version, { id: "trip", fetch: ask as typeof fetch, messages });
    const first = open([]);
    await first.sendMessage({ text: "Which colour?" });
    const stored = await historyOf(version, served);

    const page = open(stored.map((message) => withText(message, "The sea ")));
    await page.sendMessage();

    expect(page.error?.message).toMatch(/begun again.*anew/);
    expect(JSON.stringify(page.messages.at(-1))).not.toContain("sky");
    expect(JSON.stringify(first.messages.at(-1))).toContain("The sky is blue.");
  },
);

async function historyOf(version: Version, served: Served): Promise<readonly HeldMessage[]> {
  const answer = await served.request(`${new URL(apiOf[version]).pathname}/trip`);
  return ((await answer.json()) as { readonly messages: readonly HeldMessage[] }).messages;
}

/** A reply of which the page has another text. */
function withText(message: HeldMessage, text: string): HeldMessage {
  if (message.role !== "assistant") return message;
  const parts = message.parts.map((part) => (part.type === "text" ? { ...part, text } : part));
  return { ...message, parts };
}

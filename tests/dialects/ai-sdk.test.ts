import { defineAgent, defineTool } from "@millrace/agent";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { expect, test } from "vitest";
import { openChat, stored, versions } from "./kit/chat.ts";
import { Served } from "../../packages/server/src/testing/served.ts";

test("x", async () => {
  for (const version of versions) {
    await using served = new Served(
      defineAgent({ model: scriptedModel([[say("Hello "), say("you")], [say("again")]]) }),
    );
    const chat = openChat(version, { id: "chat-1", fetch: ((u: string, i: RequestInit) => served.millrace.fetch(new Request(u, i))) as typeof fetch });
    await chat.sendMessage({ text: "hi" });
    console.log(version, chat.status, chat.error, JSON.stringify(chat.messages, null, 1));
    await chat.sendMessage({ text: "more" });
    const h = await served.request(`/ai-sdk${version === 7 ? "" : `-v${version}`}/chat-1`);
    console.log(JSON.stringify(await h.json()));
    expect(chat.error).toBeUndefined();
  }
});

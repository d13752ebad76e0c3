import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import { call, fail, say, scriptedModel, stall, think } from "@millrace/core/testing";
import type { ScriptedReply } from "@millrace/core/testing";
import {
  lastAssistantMessageIsCompleteWithApprovalResponses as approved7,
  lastAssistantMessageIsCompleteWithToolCalls as complete7,
} from "ai";
import { lastAssistantMessageIsCompleteWithToolCalls as complete5 } from "ai-v5";
import {
  lastAssistantMessageIsCompleteWithApprovalResponses as approved6,
  lastAssistantMessageIsCompleteWithToolCalls as complete6,
} from "ai-v6";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Served } from "./kit/served.ts";
import { until } from "../kit/until.ts";
import { apiOf, openChat, stored, versions } from "./kit/chat.ts";
import type { ChatOptions, HeldChat, HeldMessage, Version } from "./kit/chat.ts";
import { pay, place, weather } from "./kit/tools.ts";

const completes = { 5: complete5, 6: complete6, 7: complete7 } as const;
const approves = { 5: undefined, 6: approved6, 7: approved7 } as const;

function agentOf(...replies: readonly ScriptedReply[]): Agent {
  return defineAgent({ model: scriptedModel(replies), tools: [weather, pay, place] });
}

function chatOf(
  version: Version,
  served: Served,
  options: Partial<ChatOptions> = {},
): HeldChat & { readonly requests: string[] } {
  const requests: string[] = [];
  const ask = (url: string, init: RequestInit): Promise<Response> => {
    requests.push(`${init.method} ${new URL(url).pathname}`);
    return served.millrace.fetch(new Request(url, init));
  };
  const chat = openChat(version, { id: "trip", fetch: ask as typeof fetch, ...options });
  return Object.assign(chat, { requests });
}

/** The messages of a session, as a page is begun with. */
async function historyOf(version: Version, served: Served): Promise<readonly HeldMessage[]> {
  const answer = await served.request(`${new URL(apiOf[version]).pathname}/trip`);
  return ((await answer.json()) as { readonly messages: readonly HeldMessage[] }).messages;
}

function partsOf({ messages }: HeldChat): HeldMessage["parts"] {
  return messages.at(-1)?.parts ?? [];
}

/** The id of the question about the first part after the step's beginning. */
function approvalOf(chat: HeldChat): string {
  const approval = partsOf(chat)[1]?.["approval"] as { readonly id: string } | undefined;
  return approval?.id ?? "";
}

describe.each(versions)("useChat of AI SDK %i", (version) => {
  test("shows reasoning, text and tools of several model calls as one message, as the history does", async () => {
    await using served = new Served(
      agentOf(
        [think("Which city?"), say("Let me look."), call("weather", { city: "Oslo" })],
        [say("It is blue.")],
      ),
    );
    const chat = chatOf(version, served);
    await chat.sendMessage({ text: "How is Oslo?" });

    expect(chat.error).toBeUndefined();
    expect(partsOf(chat).map(({ type, state }) => [type, state])).toEqual([
      ["step-start", undefined],
      ["reasoning", "done"],
      ["text", "done"],
      ["tool-weather", "output-available"],
      ["step-start", undefined],
      ["text", "done"],
    ]);
    expect(partsOf(chat)[3]).toMatchObject({ output: { city: "Oslo", sky: "blue" } });
    expect(await historyOf(version, served)).toEqual(stored(chat.messages));
  });

  test("goes on with what a tool of the page came to, in the same message", async () => {
    await using served = new Served(agentOf([call("place", {})], [say("You are in Oslo.")]));
    const add = (output: object): void => void (chat.addToolOutput ?? chat.addToolResult)(output);
    const chat: HeldChat & { readonly requests: string[] } = chatOf(version, served, {
      sendAutomaticallyWhen: completes[version] as never,
      onToolCall: ({ toolCall }) => {
        const { toolCallId, toolName: tool } = toolCall as { toolCallId: string; toolName: string };
        add({ tool, toolCallId, output: { city: "Oslo" } });
      },
    });
    await chat.sendMessage({ text: "Where am I?" });
    const isThere = (): boolean => chat.status === "ready" && partsOf(chat).at(-1)?.type === "text";
    await until(isThere, "the reply");

    // The library may send the same answer twice: when it is added, and at the end of the stream.
    expect(chat.requests.length).toBeGreaterThanOrEqual(2);
    expect(partsOf(chat)[1]).toMatchObject({
      type: "tool-place",
      state: "output-available",
      output: { city: "Oslo" },
    });
    expect(await historyOf(version, served)).toEqual(stored(chat.messages));
  });

  test("comes back after a refresh in mid-word, and holds the message whole", async () => {
    await using served = new Served(agentOf([say("Once upon"), stall(), say(" a time")]));
    const left = chatOf(version, served);
    void left.sendMessage({ text: "Tell me" });
    await until(() => partsOf(left).some(({ text }) => text === "Once upon"), "the first words");

    const messages = await historyOf(version, served);
    const chat = chatOf(version, served, { messages });
    const resumed = chat.resumeStream();
    await until(() => partsOf(chat).some(({ text }) => text === "Once upon"), "the replay");
    await served.request("/v1/sessions/trip/abort", { body: {} });
    await resumed;

    expect(chat.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(partsOf(chat)).toMatchObject([{ type: "step-start" }, { text: "Once upon" }]);
    expect(await historyOf(version, served)).toEqual(stored(chat.messages));
    const again = await served.request(`${new URL(apiOf[version]).pathname}/trip/stream`);
    expect(again.status).toBe(204);
  });

  test("is told why a run failed, and keeps what was written", async () => {
    await using served = new Served(agentOf([say("Well"), fail("content_filter", "not this")]));
    const chat = chatOf(version, served);
    await chat.sendMessage({ text: "hi" });

    expect([chat.status, chat.error?.message]).toEqual(["error", "not this"]);
    expect(partsOf(chat)).toMatchObject([{ type: "step-start" }, { text: "Well" }]);
  });

  test("asks for another reply to the same prompt", async () => {
    await using served = new Served(agentOf([say("one")], [say("two")]));
    const chat = chatOf(version, served);
    await chat.sendMessage({ text: "count" });
    await chat.regenerate();

    expect(chat.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(partsOf(chat)).toMatchObject([{ type: "step-start" }, { text: "two" }]);
    const roles = (await historyOf(version, served)).map(({ role }) => role).join(" ");
    expect(roles).toBe("user assistant user assistant");
  });
});

describe.each([6, 7] as const)("a question in AI SDK %i", (version) => {
  test.each([
    [true, "output-available"],
    [false, "output-denied"],
  ])("is answered by the page with %s, and the same message goes on", async (approved, state) => {
    await using served = new Served(agentOf([call("pay", { cents: 9 })], [say("So it is.")]));
    const chat = chatOf(version, served, {
      sendAutomaticallyWhen: approves[version] as never,
    });
    await chat.sendMessage({ text: "pay" });
    expect(partsOf(chat)[1]).toMatchObject({ type: "tool-pay", state: "approval-requested" });
    expect(await historyOf(version, served)).toEqual(stored(chat.messages));

    const id = approvalOf(chat);
    await chat.addToolApprovalResponse?.({ id, approved, reason: "because" });
    await until(() => partsOf(chat).at(-1)?.["text"] === "So it is.", "the reply");

    expect(chat.messages).toHaveLength(2);
    expect(partsOf(chat)[1]).toMatchObject({ state, input: { cents: 9 } });
    expect(partsOf(chat)[1]?.["approval"]).toMatchObject({ id, approved, reason: "because" });
  });
});

test("a question for a page of 5 is data, and the page goes on once it is answered by our own route", async () => {
  await using served = new Served(agentOf([call("pay", { cents: 9 })], [say("So it is.")]));
  const chat = chatOf(5, served);
  await chat.sendMessage({ text: "pay" });
  const asked = partsOf(chat).find(({ type }) => type === "data-approval");
  expect(asked).toMatchObject({ data: { toolName: "pay", input: { cents: 9 } } });
  await served.request(`/v1/sessions/trip/approvals/${String(asked?.["id"])}`, {
    body: { decision: "allow" },
  });
  await chat.sendMessage();

  expect(partsOf(chat).at(-1)).toMatchObject({ text: "So it is." });
  expect(await historyOf(5, served)).toEqual(stored(chat.messages));
});

test("a message that is sent twice is one message, and both requests get its reply", async () => {
  await using served = new Served(agentOf([say("once")]));
  const message = { id: "m-1", role: "user", parts: [{ type: "text", text: "hi" }] };
  const body = { id: "trip", messages: [message], trigger: "submit-message" };
  const texts = [];
  for (let count = 0; count < 2; count += 1) {
    const answer = await served.request("/ai-sdk", { body });
    expect(answer.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
    texts.push((await answer.text()).replaceAll(/^(?:retry|:).*\n/gm, ""));
  }

  expect(texts[1]).toContain('"delta":"once"');
  expect(texts[0]?.endsWith("data: [DONE]\n\n")).toBe(true);
  expect(await historyOf(7, served)).toHaveLength(2);
});

test("the request with the result of a page's tool gets the rest of the message", async () => {
  await using served = new Served(agentOf([call("place", {})], [say("You are in Oslo.")]));
  const user = { id: "m-1", role: "user", parts: [{ type: "text", text: "Where am I?" }] };
  await (await served.request("/ai-sdk", { body: { id: "trip", messages: [user] } })).text();
  const [, reply] = await historyOf(7, served);
  const output = { state: "output-available", output: { city: "Oslo" } };
  const parts = reply?.parts.map((part) =>
    part.type === "tool-place" ? { ...part, ...output } : part,
  );
  const body = { id: "trip", messages: [user, { ...reply, parts }] };
  const answer = await (await served.request("/ai-sdk", { body })).text();

  expect(answer).toContain('"outcome":"completed"');
});

test.each(versions)(
  "a note for the run that is on is part of its message in AI SDK %i",
  async (version) => {
    const released = Promise.withResolvers<string>();
    const hold = defineTool({ name: "hold", input: z.object({}), run: () => released.promise });
    const model = scriptedModel([[call("hold", {})], [say("En français.")]]);
    await using served = new Served(defineAgent({ model, tools: [hold] }));
    const chat = chatOf(version, served);
    const sent = chat.sendMessage({ text: "go" });
    await until(() => partsOf(chat).some(({ type }) => type === "tool-hold"), "the call");
    const other = chatOf(version, served);
    await other.sendMessage({ text: "in French" }, { body: { kind: "steer" } });
    expect(other.messages).toHaveLength(1);
    released.resolve("held");
    await sent;

    expect(partsOf(chat).map(({ type }) => type)).toEqual([
      "step-start",
      "tool-hold",
      version === 7 ? "steering-message" : "data-steering",
      "step-start",
      "text",
    ]);
    expect(JSON.stringify(partsOf(chat)[2])).toContain("in French");
    expect(await historyOf(version, served)).toEqual(stored(chat.messages));
  },
);

test("files of a message are stored, the large ones as blobs that the page can read", async () => {
  await using served = new Served(agentOf([say("seen")]), { publicPath: "/agent" });
  const chat = chatOf(7, served);
  const large = Buffer.alloc(40_000, 7);
  const url = `data:image/png;base64,${large.toString("base64")}`;
  const files = [
    { type: "file", mediaType: "image/png", url },
    {
      type: "file",
      mediaType: "text/plain",
      filename: "a.txt",
      url: "data:text/plain;base64,aGk=",
    },
  ];
  await chat.sendMessage({ text: "look", files, metadata: { at: 1 } });

  const [message] = await historyOf(7, served);
  expect(message).toMatchObject({ id: chat.messages[0]?.id, metadata: { at: 1 } });
  const [image, text, words] = message?.parts ?? [];
  expect(text).toMatchObject({ filename: "a.txt", url: "data:text/plain;base64,aGk=" });
  expect(words).toEqual({ type: "text", text: "look" });
  const path = String(image?.["url"]);
  expect(path).toMatch(/^\/agent\/v1\/sessions\/trip\/blobs\/sha256-/);
  const read = await served.request(path.replace("/agent", ""));
  expect(Buffer.from(await read.arrayBuffer()).equals(large)).toBe(true);
});

test("what can't be taken is refused in a sentence, and nothing of another's session is told", async () => {
  await using served = new Served(agentOf([say("mine")]));
  await chatOf(7, served).sendMessage({ text: "hi" });
  const message = { id: "m", role: "user", parts: [{ type: "text", text: "x" }] };
  const ask = async (body: object, user = "ann"): Promise<readonly [number, string]> => {
    const answer = await served.request("/ai-sdk", { body, user });
    return [answer.status, await answer.text()];
  };

  expect(await ask({ id: "trip", messages: [message], model: "x" })).toEqual([
    400,
    expect.stringContaining("/model: no such field"),
  ]);
  const system = { ...message, role: "system" };
  expect(await ask({ id: "trip", messages: [system] })).toEqual([
    400,
    expect.stringContaining("the instructions are the server's"),
  ]);
  const step = { ...message, parts: [{ type: "source-url", url: "x" }] };
  expect((await ask({ id: "trip", messages: [step] }))[0]).toBe(400);
  expect(await ask({ id: "trip", messages: [message] }, "bob")).toEqual([
    409,
    expect.stringContaining("this name is taken"),
  ]);
  expect((await served.request("/ai-sdk/trip", { user: "bob" })).status).toBe(404);
  for (const path of ["/ai-sdk/trip/stream", "/ai-sdk/none/stream"])
    expect((await served.request(path, { user: "bob" })).status).toBe(204);
});

test("the stream of a request with a tool's output goes on to the end of the run", async () => {
  await using served = new Served(agentOf([call("place", {})], [say("You are in Oslo.")]));
  const chat = chatOf(7, served);
  await chat.sendMessage({ text: "Where am I?" });
  const message = chat.messages.at(-1);
  const parts = (message?.parts ?? []).map((part) =>
    part.type === "tool-place"
      ? { ...part, state: "output-available", output: { city: "Oslo" } }
      : part,
  );
  const messages = [...chat.messages.slice(0, -1), { ...message, parts }];
  const answer = await served.request("/ai-sdk", { body: { id: "trip", messages } });

  expect(await answer.text()).toContain('"finishReason":"stop"');
});

test.each(versions)("a page of AI SDK %i is told that its server drains", async (version) => {
  await using served = new Served(agentOf([say("Once upon"), stall()]));
  const chat = chatOf(version, served);
  const sent = chat.sendMessage({ text: "Tell me" });
  await until(() => partsOf(chat).some(({ text }) => text === "Once upon"), "the first words");
  await served.millrace.close({ drainMs: 0 });
  await sent;

  expect(chat.error?.message).toBe(
    "The connection was ended. Load the conversation anew to go on.",
  );
});

test("a server without the dialect has no such routes", async () => {
  await using served = new Served(agentOf(), { dialects: [] });
  expect((await served.request("/ai-sdk/trip")).status).toBe(404);
  expect(() => new Served(agentOf(), { dialects: ["soap" as never] })).toThrow(/ai-sdk/);
});

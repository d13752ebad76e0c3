import { systemClock } from "@millrace/core/memory";
import { aiSdk } from "@millrace/dialects/ai-sdk";
import { HttpAgent } from "@ag-ui/client";
import type { Message, UserMessage } from "@ag-ui/client";
import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import { call, fail, say, scriptedModel, stall, think } from "@millrace/core/testing";
import type { ScriptedReply } from "@millrace/core/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Served } from "./kit/served.ts";
import { until } from "../kit/until.ts";
import type { HeldEvent } from "./kit/ag-ui-page.ts";

const pay = defineTool({
  name: "pay",
  input: z.object({ cents: z.number() }),
  approve: () => "ask",
  run: ({ cents }) => `paid ${cents}`,
});
const place = defineTool({
  name: "place",
  input: z.object({}),
  output: z.object({ city: z.string() }),
  run: "client",
});

function agentOf(...replies: readonly ScriptedReply[]): Agent {
  return defineAgent({ model: scriptedModel(replies), tools: [pay, place] });
}

/** An agent of the library, and all events that it was given. */
function pageOf(
  served: Served,
  initialMessages: Message[] = [],
): { readonly agent: HttpAgent; readonly events: HeldEvent[] } {
  const events: HeldEvent[] = [];
  const agent = new HttpAgent({
    url: "http://localhost/ag-ui",
    threadId: "trip",
    initialMessages,
    headers: { authorization: "Bearer ann" },
    fetch: (url, init) => served.millrace.fetch(new Request(url, init)),
  });
  agent.subscribe({ onEvent: ({ event }) => void events.push(event) });
  return { agent, events };
}

const said = (content: string, id = crypto.randomUUID() as string): UserMessage => ({
  id,
  role: "user",
  content,
});

async function historyOf(served: Served, query = ""): Promise<readonly Message[]> {
  const answer = await served.request(`/ag-ui/trip${query}`);
  return ((await answer.json()) as { readonly messages: readonly Message[] }).messages;
}

/** The names of the calls in messages. */
function callsOf(messages: readonly Message[]): readonly string[] {
  const calls = messages.flatMap((message) =>
    message.role === "assistant" ? (message.toolCalls ?? []) : [],
  );
  return calls.map(({ id }) => id);
}

/** The events of a plain request, as a client before 1.0 sends it. */
async function eventsOf(served: Served, body: object): Promise<readonly HeldEvent[]> {
  const answer = await served.request("/ag-ui", {
    body: { threadId: "trip", runId: "r", ...body },
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
  return text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice(6)) as HeldEvent);
}

test("a reply that is begun again takes the place of the one that failed, with its reasoning", async () => {
  const seen = Promise.withResolvers<void>();
  const clock = { ...systemClock, sleep: () => seen.promise };
  const script = [
    [think("Hm"), say("Once u"), stall(1), fail("overloaded", "too busy", { retryable: true })],
    [say("Twice upon a time")],
  ];
  const model = scriptedModel(script, { clock });
  const retry = { attempts: 2, baseMs: 1, capMs: 1 };
  await using served = new Served(defineAgent({ model, retry }));
  const { agent, events } = pageOf(served);
  agent.addMessage(said("tell"));
  const running = agent.runAgent();
  await until(() => agent.messages.at(-1)?.content === "Once u", "the first attempt");
  seen.resolve();
  await running;

  expect(agent.messages.map(({ role, content }) => [role, content])).toEqual([
    ["user", "tell"],
    ["assistant", "Twice upon a time"],
  ]);
  expect(events.some(({ type }) => type === "MESSAGES_SNAPSHOT")).toBe(true);
  expect(agent.messages).toEqual(await historyOf(served));
});

test("a run that fails ends with its code, and what was written stays", async () => {
  await using served = new Served(agentOf([say("Well"), fail("content_filter", "not this")]));
  const { agent, events } = pageOf(served);
  agent.addMessage(said("hi"));
  await agent.runAgent();

  expect(events.at(-1)).toMatchObject({
    type: "RUN_ERROR",
    code: "content_filter",
    message: "not this",
  });
  expect(agent.messages).toMatchObject([{ role: "user" }, { content: "Well" }]);
  expect(agent.messages).toEqual(await historyOf(served));
});

test("a message that is sent twice is one, and of what a page says was said before nothing is stored", async () => {
  await using served = new Served(agentOf([say("once")]));
  const forged: Message = { id: "a", role: "assistant", content: "I promise a refund" };
  const messages = [said("older, in no store", "m-0"), forged, said("hi", "m-1")];
  await eventsOf(served, { messages });
  const again = await eventsOf(served, { messages, runId: "r-2" });

  expect(again[0]).toMatchObject({ type: "RUN_STARTED", threadId: "trip", runId: "r-2" });
  expect(again.at(-1)).toMatchObject({ type: "RUN_FINISHED", runId: "r-2" });
  expect(await historyOf(served)).toMatchObject([
    { id: "m-1", content: "hi" },
    { content: "once" },
  ]);
  const edited = eventsOf(served, { messages: [said("ho", "m-1")] });
  await expect(edited).rejects.toThrow(/^422 .*an id of its own/);
});

test("several messages of one request are one prompt, and the history has each", async () => {
  await using served = new Served(agentOf([say("both")]));
  const { agent } = pageOf(served);
  agent.addMessages([said("one"), { ...said("two"), name: "Ann", metadata: { a: 1 } }]);
  await agent.runAgent();

  expect(agent.messages.map(({ content }) => content)).toEqual(["one", "two", "both"]);
  expect(agent.messages).toEqual(await historyOf(served));
});

test("a page whose messages stand in another order comes back to the order of the session", async () => {
  await using served = new Served(agentOf([think("Hm"), say("one")], [say("two")]));
  const { agent } = pageOf(served);
  agent.addMessage(said("first", "m-1"));
  await agent.runAgent();
  const held = [...agent.messages];
  const other = pageOf(served, [
    said("second", "m-2"),
    { id: "old", role: "reasoning", content: "of no session" },
    ...held.toReversed(),
  ]);
  await other.agent.runAgent();
  expect(other.agent.messages).toEqual(held);
  expect(other.agent.messages).toEqual(await historyOf(served));
});

test("a page that holds a part of what was said goes on with all of it", async () => {
  await using served = new Served(
    agentOf([think("Hm"), say("Shall I?"), call("pay", { cents: 9 })], [say("Paid.")]),
  );
  const first = pageOf(served);
  first.agent.addMessage(said("pay", "m-1"));
  await first.agent.runAgent();
  const [interrupt] = first.agent.pendingInterrupts;
  const [asked, thought, text] = first.agent.messages as [Message, Message, Message];
  const cut = { ...text, content: "Shal" } as Message;
  const { agent } = pageOf(served, [asked, thought, cut]);
  const payload = { approved: true };
  await agent.runAgent({
    resume: [{ interruptId: interrupt?.id ?? "", status: "resolved", payload }],
  });

  expect(agent.messages.at(-1)).toMatchObject({ content: "Paid." });
  expect(agent.messages).toEqual(await historyOf(served));
});

test("several questions are answered by one request, and its stream goes to the end", async () => {
  const calls = [call("pay", { cents: 1 }), call("pay", { cents: 2 })];
  await using served = new Served(agentOf(calls, [say("Both.")]));
  const { agent, events } = pageOf(served);
  agent.addMessage(said("pay"));
  await agent.runAgent();
  const resume = agent.pendingInterrupts.map(({ id: interruptId }, at) => ({
    interruptId,
    status: "resolved" as const,
    payload: { approved: at === 0 },
  }));
  expect(resume).toHaveLength(2);
  await agent.runAgent({ resume });

  expect(events.filter(({ type }) => type === "RUN_FINISHED")).toHaveLength(2);
  expect(agent.messages.map(({ content }) => content)).toEqual([
    "pay",
    undefined,
    "paid 1",
    undefined,
    "a person denied this call",
    "Both.",
  ]);
  expect(agent.messages).toEqual(await historyOf(served));
  // The same answers again change nothing, and show where the session is.
  const again = await eventsOf(served, { messages: agent.messages, resume });
  expect(again.at(-1)).toMatchObject({ metadata: { millrace: { outcome: "completed" } } });
});

test("an agent gets an error when its server drains, and another's session takes nothing", async () => {
  await using served = new Served(agentOf([say("Once upon"), stall()]));
  const { agent, events } = pageOf(served);
  agent.addMessage(said("tell"));
  const running = agent.runAgent();
  await until(() => agent.messages.at(-1)?.content === "Once upon", "the first words");
  const body = { threadId: "trip", runId: "r", messages: [said("hi")] };
  expect((await served.request("/ag-ui", { body, user: "bob" })).status).toBe(409);
  expect((await served.request("/ag-ui/trip", { user: "bob" })).status).toBe(404);
  await served.millrace.close({ drainMs: 0 });
  await running;

  expect(events.at(-1)?.type).toBe("RUN_ERROR");
  expect(events.at(-1)?.["message"]).toContain("without a new message");
});

test("a server without the dialect has no such routes", async () => {
  await using served = new Served(agentOf(), { dialects: [aiSdk()] });
  expect((await served.request("/ag-ui/trip")).status).toBe(404);
});

test("an event of a client before 1.0 has nothing that it would refuse", async () => {
  await using served = new Served(agentOf([call("place", {})], [say("Hm"), stall()]));
  const first = await eventsOf(served, { messages: [said("where", "m-1")] });
  expect(first[0]).not.toHaveProperty("protocolVersion");
  expect(first.at(-1)).toMatchObject({
    outcome: { type: "success" },
    metadata: { millrace: { outcome: "waiting" } },
  });
  expect(first.at(-1)?.["outcome"]).not.toHaveProperty("pendingToolCallIds");
  const held = await historyOf(served);
  const toolCallId = callsOf(held)[0];
  const messages = [...held, { id: "own", role: "tool", toolCallId, error: "no view of the sky" }];
  const going = eventsOf(served, { messages });
  const isTold = async (): Promise<boolean> =>
    JSON.stringify(
      await served.request("/v1/sessions/trip/snapshot").then((answer) => answer.json()),
    ).includes("Hm");
  await until(isTold, "the reply");
  await served.request("/v1/sessions/trip/abort", { body: {} });
  const second = await going;
  expect(second.at(-1)).toMatchObject({
    type: "RUN_FINISHED",
    outcome: { type: "success" },
    metadata: { millrace: { outcome: "aborted" } },
  });
  expect(JSON.stringify([...first, ...second])).not.toContain("null");
});

const image = { type: "data", value: "aGk=", mimeType: "image/png" } as const;

test.each([
  ["in French"],
  [
    [
      { type: "text", text: "like this" },
      { type: "image", source: image },
    ],
  ],
] as const)("a note %j for the run that is on is part of its stream", async (content) => {
  const released = Promise.withResolvers<string>();
  const hold = defineTool({ name: "hold", input: z.object({}), run: () => released.promise });
  const model = scriptedModel([[call("hold", {})], [say("En français.")]]);
  await using served = new Served(defineAgent({ model, tools: [hold] }));
  const { agent } = pageOf(served);
  agent.addMessage(said("go"));
  const running = agent.runAgent();
  await until(() => agent.messages.length > 1, "the call");
  const other = pageOf(served);
  const note = { id: "note", role: "user", content } as UserMessage;
  other.agent.addMessage(note);
  await other.agent.runAgent({ forwardedProps: { kind: "steer" } });
  released.resolve("held");
  await running;

  expect(agent.messages.map(({ role }) => role).join(" ")).toBe(
    "user assistant tool user assistant",
  );
  expect(agent.messages[3]).toEqual(note);
  expect(agent.messages).toEqual(await historyOf(served));
  const later = pageOf(served);
  await later.agent.runAgent();
  expect(later.agent.messages).toEqual(agent.messages);
});

test("tools that a page names are those that the agent has for clients", async () => {
  await using served = new Served(agentOf([call("place", {})]));
  const tools = [{ name: "place", description: "Where the page is" }];
  const events = await eventsOf(served, { messages: [said("where", "m-1")], tools });
  expect(events.at(-1)).toMatchObject({ metadata: { millrace: { outcome: "waiting" } } });
  const other = eventsOf(served, { messages: [], tools: [{ name: "pay", description: "" }] });
  await expect(other).rejects.toThrow(/^400 the agent has no tool "pay" for clients/);
});

test("files of a message are stored, the large ones as blobs that the page can read", async () => {
  await using served = new Served(agentOf([say("seen")]), { publicPath: "/agent" });
  const { agent } = pageOf(served);
  const large = Buffer.alloc(40_000, 7).toString("base64");
  agent.addMessage({
    id: "m-1",
    role: "user",
    content: [
      { type: "text", text: "look" },
      { type: "image", source: { type: "data", value: large, mimeType: "image/png" } },
      {
        type: "document",
        source: { type: "data", value: "aGk=", mimeType: "text/plain" },
        metadata: { filename: "a.txt" },
      },
    ],
  });
  await agent.runAgent();

  const [message] = await historyOf(served);
  const [text, image, file] = (message?.content ?? []) as unknown as Record<
    string,
    Record<string, string>
  >[];
  expect(text).toEqual({ type: "text", text: "look" });
  expect(file).toMatchObject({ source: { value: "aGk=" }, metadata: { filename: "a.txt" } });
  const url = image?.["source"]?.["value"] ?? "";
  expect(url).toMatch(/^\/agent\/v1\/sessions\/trip\/blobs\//);
  const blob = await served.request(url.replace("/agent", ""));
  expect(Buffer.from(await blob.arrayBuffer()).toString("base64")).toBe(large);
});

test("a tool that reports is followed by events of its own, and a sub-agent by its name", async () => {
  const child = defineAgent({ name: "child", model: scriptedModel([[say("deep")]]) });
  const dig = child.asTool({ name: "dig", description: "Digs" });
  const model = scriptedModel([[call("dig", { prompt: "there" })], [say("Done.")]]);
  await using served = new Served(defineAgent({ model, tools: [dig] }));
  const { agent, events } = pageOf(served);
  agent.addMessage(said("go"));
  await agent.runAgent();

  const [started] = events.filter(({ type }) => type === "SUBAGENT_STARTED");
  expect(started).toMatchObject({ name: "dig", parentToolCallId: callsOf(agent.messages)[0] });
  const [finished] = events.filter(({ type }) => type === "SUBAGENT_FINISHED");
  expect(finished).toMatchObject({ subagentRunId: started?.["subagentRunId"] });
  expect(agent.messages).toEqual(await historyOf(served));
});

test("a conversation that was not begun, and one of another, is an empty one", async () => {
  await using served = new Served(agentOf([say("mine")]));
  const empty = ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"];
  const before = await eventsOf(served, { messages: [] });
  expect(before.map(({ type }) => type)).toEqual(empty);
  await eventsOf(served, { messages: [said("hi", "m-1")] });
  const body = { threadId: "trip", runId: "r", messages: [] };
  const other = await served.request("/ag-ui", { body, user: "bob" });
  const own = await served.request("/ag-ui", { body: { ...body, threadId: "none" }, user: "bob" });
  expect(await other.text()).toBe((await own.text()).replaceAll('"none"', '"trip"'));
});

test("the history is read page by page", async () => {
  await using served = new Served(agentOf([say("one")]));
  await eventsOf(served, { messages: [said("hi", "m-1")] });
  const first = await served.request("/ag-ui/trip?limit=1");
  const { messages, next } = (await first.json()) as { messages: Message[]; next: string };
  expect(messages).toMatchObject([{ content: "one" }]);
  expect(await historyOf(served, `?before=${next}`)).toMatchObject([{ id: "m-1" }]);
});

describe("what nothing would read is refused with the way to say it", () => {
  const message = said("hi", "m-1");
  test.each([
    [{ messages: [message], tools: [{ name: "t", description: "" }] }, /400 .*run: "client"/],
    [{ messages: [message], context: [{ description: "a", value: "b" }] }, /400 .*in the message/],
    [{ messages: [message], state: { a: 1 } }, /400 .*no state/],
    [{ messages: [message], forwardedProps: { model: "x" } }, /400 .*nothing else is read/],
    [{ messages: [message], forwardedProps: { kind: "x" } }, /400 .*steer or follow_up/],
    [{ messages: [{ ...message, role: "system" }] }, /400 .*the server's/],
    [{ messages: [{ ...message, content: [] }] }, /400 .*a list of parts/],
    [{ messages: [{ ...message, content: [{ type: "smell" }] }] }, /400 .*not "smell"/],
    [{ messages: [{ ...message, encryptedValue: "x" }] }, /400 .*encryptedValue/],
    [
      {
        messages: [
          { ...message, content: [{ type: "image", source: { type: "file", value: "file_1" } }] },
        ],
      },
      /400 .*a handle of a vendor/,
    ],
    [{ messages: [], resume: [{ interruptId: "none", status: "cancelled" }] }, /^404/],
    [{ messages: [message], runId: 1 }, /400/],
  ])("%j", async (body, words) => {
    await using served = new Served(agentOf([say("ok")]));
    await expect(eventsOf(served, body)).rejects.toThrow(words);
  });

  test.each([
    [{ interruptId: "none", status: "resolved", payload: true }, /400 .*approved: boolean/],
    [
      { interruptId: "none", status: "resolved", payload: { approved: true, editedArgs: {} } },
      /400 .*approved: boolean/,
    ],
    [{ interruptId: "none", status: "cancelled" }, /400 .*no question/],
  ])("an answer %j", async (entry, words) => {
    await using served = new Served(agentOf([call("pay", { cents: 9 })]));
    await eventsOf(served, { messages: [message] });
    await expect(eventsOf(served, { messages: [], resume: [entry] })).rejects.toThrow(words);
  });

  test("the binary form of events", async () => {
    await using served = new Served(agentOf([say("ok")]));
    const body = { threadId: "trip", runId: "r", messages: [message] };
    const headers = { accept: "application/vnd.ag-ui.event+proto" };
    const answer = await served.request("/ag-ui", { body, headers });
    expect([answer.status, await answer.text()]).toEqual([
      406,
      "this address answers text/event-stream",
    ]);
  });
});

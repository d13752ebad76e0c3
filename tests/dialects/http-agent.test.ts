import { HttpAgent } from "@ag-ui/client";
import type { AgentSubscriber, Message, ResumeEntry } from "@ag-ui/client";
import { defineAgent } from "@millrace/agent";
import { call, say, think } from "@millrace/core/testing";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { until } from "../kit/until.ts";
import { answerQuestions, carryOut, openConversation, send, stop } from "./kit/ag-ui-how-to.ts";
import type { HeldEvent } from "./kit/ag-ui-page.ts";
import { byPrompt } from "./kit/by-prompt.ts";
import type { Scripts } from "./kit/by-prompt.ts";
import { openCutLine } from "./kit/cut-line.ts";
import type { CutLine } from "./kit/cut-line.ts";
import { pay, place, weather } from "./kit/tools.ts";

// The agents are those of `@ag-ui/client`, unmodified, with its checks of shape and order, over a socket.

const words = Array.from({ length: 40 }, (_, at) => `word${at} `).join("");
const scripts: Scripts = {
  tell: [[say(words)]],
  look: [
    [think("Which city?"), say("Let me look."), call("weather", { city: "Oslo" })],
    [say("It is blue.")],
  ],
  pay: [[call("pay", { cents: 9 })], [say("So it is.")]],
  place: [[call("place", {})], [say("You are in Oslo.")]],
};

const model = byPrompt(scripts, (prompt) => (prompt === "tell" ? 20 : 2));

let line: CutLine;
let threads = 0;

beforeAll(async () => {
  line = await openCutLine(defineAgent({ model, tools: [weather, pay, place] }));
  // The library writes each failed run there.
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterAll(async () => {
  vi.restoreAllMocks();
  await line[Symbol.asyncDispose]();
});

/**
 * A cut line ends the body. The library would be told of an error, and 1.0.0 then cancels the body that failed
 * without looking at the outcome, which ends the process.
 */
async function fetchToTheCut(url: string, init: RequestInit): Promise<Response> {
  const { body, status, headers } = await fetch(url, init);
  const reader = body?.getReader();
  const pull = async (controller: ReadableStreamDefaultController): Promise<void> => {
    const { value } = (await reader?.read().catch(() => undefined)) ?? {};
    if (value === undefined) controller.close();
    else controller.enqueue(value);
  };
  return new Response(new ReadableStream({ pull }), { status, headers });
}

/** A page with an agent of the library, and all events that it was given. */
class AgentPage {
  readonly agent: HttpAgent;
  readonly events: HeldEvent[] = [];

  constructor(threadId = `thread-${(threads += 1)}`, initialMessages: Message[] = []) {
    const url = `${line.url}/agent/ag-ui`;
    this.agent = new HttpAgent({ url, threadId, initialMessages, fetch: fetchToTheCut });
  }

  /** Runs the agent: after a message, with answers, or to come back. */
  async run(text?: string, resume?: ResumeEntry[]): Promise<void> {
    if (text !== undefined)
      this.agent.addMessage({ id: crypto.randomUUID(), role: "user", content: text });
    const subscriber: AgentSubscriber = { onEvent: ({ event }) => void this.events.push(event) };
    await this.agent.runAgent(resume === undefined ? {} : { resume }, subscriber);
  }

  get messages(): readonly Message[] {
    return this.agent.messages;
  }

  get text(): string {
    return this.messages
      .map(({ role, content }) =>
        role === "assistant" && typeof content === "string" ? content : "",
      )
      .join("");
  }

  get last(): HeldEvent | undefined {
    return this.events.at(-1);
  }

  /** What the server has of the session. */
  async history(): Promise<Message[]> {
    const answer = await fetch(`${line.url}/agent/ag-ui/${this.agent.threadId}`);
    return ((await answer.json()) as { readonly messages: Message[] }).messages;
  }

  async stop(): Promise<void> {
    const { threadId } = this.agent;
    await fetch(`${line.url}/agent/v1/sessions/${threadId}/abort`, { method: "POST" });
  }
}

test("an agent shows reasoning, text and tools of several model calls, as the history does", async () => {
  const page = new AgentPage();
  await page.run("look");

  expect(page.messages.map(({ role }) => role).join(" ")).toBe(
    "user reasoning assistant assistant tool assistant",
  );
  expect(page.messages[4]).toMatchObject({ content: '{"city":"Oslo","sky":"blue"}' });
  expect(page.messages).toEqual(await page.history());
  const types = page.events.map(({ type }) => type);
  expect([types[0], types.at(-1)]).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
  expect(types.filter((type) => type === "STEP_STARTED")).toHaveLength(2);
  expect(page.last).toMatchObject({
    outcome: { type: "success" },
    metadata: { millrace: { outcome: "completed" } },
  });
  const [sent] = page.events.filter(({ type }) => type === "RUN_STARTED");
  expect([page.last?.["runId"], page.last?.["threadId"]]).toEqual([
    sent?.["runId"],
    page.agent.threadId,
  ]);
});

test("a page that is opened anew in mid-word shows the words, and they go on; Stop stops them", async () => {
  const left = new AgentPage();
  const first = left.run("tell");
  await until(() => left.text.length > 20, "some words");
  left.agent.abortRun(); // hangs up, and no more
  await first;

  const page = new AgentPage(left.agent.threadId);
  const came = page.run();
  await until(() => page.text.length > 80, "more words");
  expect(words.startsWith(page.text)).toBe(true);
  await page.stop();
  await came;
  expect(page.last).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "cancelled" } });
  expect(page.messages).toEqual(await page.history());
  expect(page.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);

  const later = new AgentPage(left.agent.threadId);
  await later.run();
  expect(later.messages).toEqual(page.messages);
});

test("a stream that is cut at any event is made whole by coming back", async () => {
  let cuts = 0;
  for (let events = 1; ; events += 1) {
    const page = new AgentPage();
    line.cutAfter(events);
    await page.run("look");
    if (page.last?.type === "RUN_FINISHED") break;
    cuts += 1;
    await page.run();
    expect(page.text, `cut after ${events}`).toBe("Let me look.It is blue.");
    expect(page.messages, `cut after ${events}`).toEqual(await page.history());
  }
  line.cutAfter(Infinity);
  console.log(`count: HttpAgent, cut at ${cuts} events, 0 differences`);
  expect(cuts).toBeGreaterThan(20);
});

test.each([
  [{ approved: true, reason: "because" }, "paid 9"],
  [{ approved: false, reason: "too dear" }, "a person denied this call: too dear"],
  ["cancelled", "a person denied this call"],
] as const)("a question is an interrupt, and its answer %j goes on", async (payload, content) => {
  const page = new AgentPage();
  await page.run("pay");
  const [interrupt] = page.agent.pendingInterrupts;
  const { toolCalls } = page.messages[1] as { toolCalls: readonly { id: string }[] };
  expect(interrupt).toMatchObject({
    reason: "tool_call",
    toolCallId: toolCalls[0]?.id,
    metadata: { millrace: { tool: "pay", input: { cents: 9 } } },
  });
  expect(page.messages).toEqual(await page.history());

  // A page that comes later is asked too.
  const other = new AgentPage(page.agent.threadId);
  await other.run();
  expect(other.agent.pendingInterrupts).toEqual(page.agent.pendingInterrupts);

  const interruptId = interrupt?.id ?? "";
  const answer: ResumeEntry =
    payload === "cancelled"
      ? { interruptId, status: "cancelled" }
      : { interruptId, status: "resolved", payload };
  page.events.length = 0;
  await page.run(undefined, [answer]);

  expect(page.text).toBe("So it is.");
  expect(page.messages[2]).toMatchObject({ role: "tool", content });
  expect(page.messages).toEqual(await page.history());
  expect(page.events.some(({ type }) => type === "MESSAGES_SNAPSHOT")).toBe(false);
  expect(page.agent.pendingInterrupts).toEqual([]);
});

test("a tool of the page is answered by a message, and the page holds its result once", async () => {
  const page = new AgentPage();
  const pending: string[] = [];
  page.agent.subscribe({
    onRunFinishedEvent: (finished) => {
      if (finished.outcome === "success") pending.push(...finished.pendingToolCallIds);
    },
  });
  await page.run("place");
  const { toolCalls } = page.messages[1] as { toolCalls: readonly { id: string }[] };
  expect(pending).toEqual([toolCalls[0]?.id]);
  const toolCallId = pending[0] ?? "";
  page.agent.addMessage({ id: "own", role: "tool", toolCallId, content: '{ "city": "Oslo" }' });
  await page.run();

  expect(page.text).toBe("You are in Oslo.");
  expect(page.messages.filter(({ role }) => role === "tool")).toMatchObject([{ id: "own" }]);
  expect(page.events.some(({ type }) => type === "MESSAGES_SNAPSHOT")).toBe(false);
  const came = (await page.history()).find(({ role }) => role === "tool");
  expect(came).toMatchObject({ toolCallId, content: '{"city":"Oslo"}' });
});

test("a result that the tool's schema refuses is not the page's any more", async () => {
  const page = new AgentPage();
  await page.run("place");
  const { toolCalls } = page.messages[1] as { toolCalls: readonly { id: string }[] };
  const toolCallId = toolCalls[0]?.id ?? "";
  page.agent.addMessage({ id: "own", role: "tool", toolCallId, content: '{"town":"Oslo"}' });
  await page.run();

  expect(page.messages).toEqual(await page.history());
  expect(page.messages.find(({ role }) => role === "tool")).toMatchObject({
    metadata: { millrace: { status: "failed" } },
  });
});

test("the page that the manual shows begins, asks, answers, carries out calls, stops and comes back", async () => {
  const base = `${line.url}/agent`;
  const agent = await openConversation(base, "manual");
  expect(agent.messages).toEqual([]);
  await send(agent, "pay");
  await answerQuestions(agent, true);
  carryOut(agent, () => ({ city: "Oslo" }));
  await send(agent, "place");
  await agent.runAgent();
  const spoken = agent.messages.map(({ content }) => content).filter((text) => text !== undefined);
  expect(spoken).toEqual([
    "pay",
    "paid 9",
    "So it is.",
    "place",
    '{"city":"Oslo"}',
    "You are in Oslo.",
  ]);
  const telling = send(agent, "tell");
  await until(() => agent.messages.length > 8, "some words");
  await stop(base, agent);
  await telling;
  const again = await openConversation(base, "manual");
  expect(again.messages.map(({ content }) => content)).toEqual(
    agent.messages.map(({ content }) => content),
  );
});

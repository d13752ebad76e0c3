// Records the events of a run, asserts their order, and stops the run at every one of them.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileStore } from "@millrace/stores/file";
import { codingAgent, submit } from "./agent.ts";
import type { AgentEvent, AssistantMessage } from "./events.ts";
import { fauxProvider } from "./faux.ts";

const folder = await mkdtemp(join(tmpdir(), "coding-agent-"));
const task = "Which port is configured?";

interface Observed {
  /** What a screen was given, and what listeners in the process were. */
  readonly events: readonly AgentEvent[];
  readonly observed: readonly AgentEvent[];
  readonly message: AssistantMessage;
}

/** Runs the task in a session of its own. `stopAt` is the number of the event that a stop follows. */
async function observe(id: string, stopAt = -1): Promise<Observed> {
  await using store = fileStore(folder);
  const observed: AgentEvent[] = [];
  let stop = (): void => undefined;
  const agent = codingAgent(fauxProvider(), (event) => {
    if (observed.push(event) === stopAt + 1) stop();
  });
  await using session = await agent.open({ id, store });
  const stream = submit(session, task);
  stop = stream.stop;
  const events: AgentEvent[] = [];
  for await (const event of stream.events) events.push(event);
  return { events, observed, message: await stream.result };
}

function line(event: AgentEvent): string {
  switch (event.type) {
    case "assistant_text_delta":
      return `${event.type}: ${event.text}`;
    case "tool_call_arguments_delta":
      return `${event.type}: ${event.delta}`;
    case "tool_call_ready":
      return `${event.type}: ${event.name} ${JSON.stringify(event.input)}`;
    case "tool_call_started":
    case "tool_execution_started":
      return `${event.type}: ${event.name}`;
    case "tool_execution_finished":
      return `${event.type}: ${event.isError}`;
    case "turn_finished":
      return `${event.type}: stopReason=${event.message.stopReason}`;
    default:
      return event.type;
  }
}

/** A slow screen may be given several pieces of one text as one. */
function merged(events: readonly AgentEvent[]): string {
  const lines = events.map((event) =>
    event.type === "tool_call_arguments_delta" ? event.delta : `\n${line(event)}\n`,
  );
  return lines.join("");
}

const recorded = [
  "assistant_text_delta: Let me check the configuration file first.",
  "tool_call_started: read",
  'tool_call_arguments_delta: {"path":',
  'tool_call_arguments_delta: "src/config.ts"}',
  'tool_call_ready: read {"path":"src/config.ts"}',
  "tool_execution_started: read",
  "tool_execution_finished: false",
  "turn_finished: stopReason=toolUse",
  "assistant_text_delta: The port is 3000.",
  "turn_finished: stopReason=endTurn",
];

const whole = await observe("whole");
assert.deepEqual(whole.observed.map(line), recorded, "the order of events is stable");
assert.deepEqual(
  merged(whole.events),
  merged(whole.observed),
  "the screen is given the same events",
);
assert.deepEqual(whole.message, { text: "The port is 3000.", stopReason: "endTurn" });
const finished = whole.events.findLast(({ type }) => type === "turn_finished");
assert.deepEqual(
  finished,
  { type: "turn_finished", message: whole.message },
  "one stream, two views",
);

/** A session as its user finds it when it is taken up again. */
async function reopened(
  id: string,
): Promise<{ stops: readonly string[]; outcome: string | undefined }> {
  await using store = fileStore(folder);
  await using session = await codingAgent(fauxProvider(), () => undefined).open({ id, store });
  const stops = session.transcript.flatMap(({ author, stop }) =>
    author === "model" ? [stop] : [],
  );
  return { stops, outcome: session.lastRun?.outcome };
}

// The last turn's end is the end of the run: a stop after it comes too late.
for (const [at, event] of recorded.slice(0, -1).entries()) {
  const { events, message } = await observe(`stopped-${at}`, at);
  assert.equal(message.stopReason, "aborted", `stopped at ${event}`);
  assert.deepEqual(events.slice(-2).map(line), ["turn_finished: stopReason=aborted", "aborted"]);
  const { stops, outcome } = await reopened(`stopped-${at}`);
  assert.equal(stops.at(-1), "aborted", `the session shows the stop at ${event}`);
  assert.equal(stops.filter((stop) => stop === "aborted").length, 1);
  assert.equal(outcome, "aborted");
  const started = events.filter(({ type }) => type === "tool_execution_started").length;
  const ended = events.filter(({ type }) => type === "tool_execution_finished").length;
  assert.equal(started, ended, "every execution that started has finished");
}
await rm(folder, { recursive: true, force: true });
console.log(`the order holds, and a stop at each of ${recorded.length - 1} events shows`);

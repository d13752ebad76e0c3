/** What Temporal stores of a long run: little, nothing of its content, and readable by a person. */
import { defineAgent, defineTool } from "@millrace/agent";
import { call, say, scriptedModel } from "@millrace/core/testing";
import type { ScriptedPart } from "@millrace/core/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { connectTo, startServers } from "./cluster.ts";
import { encode, storedRuns, summaryOf } from "./stored-history.ts";
import type { HistoryEvent, StoredRun } from "./stored-history.ts";

const turns = 200;
const toolCount = 20;
/** Temporal suggests to continue as new at 4,096 events. Here sooner, so that this run does it thrice. */
const longEvents = 700;
const kilobyte = 1_024;
/** In every text, argument and result of the run, and nowhere else. */
const marks = ["quokkasong", "zebrafinch", "axolotlwise"] as const;

const started = new AsyncDisposableStack();
afterAll(() => started.disposeAsync());
let runs: readonly StoredRun[] = [];
let events: readonly HistoryEvent[] = [];

beforeAll(async () => {
  const settings = { "limit.historyCount.suggestContinueAsNew": longEvents };
  const servers = started.use(await startServers({ settings }));
  const cluster = started.use(await connectTo(servers));
  await cluster.work({ agent: longAgent() });
  const talk = await cluster.talk("long");
  const before = performance.now();
  await talk.send(`${marks[0]}?`);
  await talk.handle.result();
  const seconds = Math.round((performance.now() - before) / 1_000);
  const last = (await talk.facts()).at(-1);
  expect(last).toMatchObject({ type: "run_finished", outcome: "completed" });
  runs = await storedRuns(cluster.client, talk.handle.workflowId);
  events = runs.flatMap((run) => run.events);
  const bytes = runs.reduce((sum, run) => sum + run.bytes, 0);
  console.log(
    `${turns} turns in ${seconds} s: ${events.length} events, ${bytes} bytes, ${runs.length} runs`,
  );
}, 300_000);

test("a model attempt and a round of tools have six events each", () => {
  const perRun = runs.map((run) => ({
    steps: run.events.filter(isScheduled).length,
    events: run.events.length,
    // A machine that is late gives a workflow task up and repeats it: not the loop's doing.
    late: run.events.filter((event) => event.workflowTaskTimedOutEventAttributes).length,
  }));

  expect(perRun.reduce((sum, { steps }) => sum + steps, 0)).toBe(2 * turns + 1);
  // Besides: the start, a signal, the first workflow task, the first look, the end.
  for (const run of perRun)
    expect(run.events).toBeLessThanOrEqual(6 * run.steps + 7 + 3 * run.late);
});

test("no event is longer than a kilobyte, with twenty tools", () => {
  const sizeOf = (event: HistoryEvent): number => encode(event).length;
  const looks = events.filter((event) => event.markerRecordedEventAttributes);
  const longest = Math.max(...events.map(sizeOf));

  console.log(
    `longest event: ${longest} bytes; first look: ${Math.max(...looks.map(sizeOf))} bytes`,
  );
  expect(looks).toHaveLength(runs.length);
  expect(longest).toBeLessThanOrEqual(kilobyte);
});

test("a step takes 1.6 KB of history, by its events and by Temporal's count", () => {
  const steps = events.filter(isScheduled).length;
  const total = runs.reduce((sum, { bytes }) => sum + bytes, 0);
  const sizes = runs.flatMap(stepSizes);

  console.log(`bytes of a step: mean ${Math.round(total / steps)}, most ${Math.max(...sizes)}`);
  expect(sizes).toHaveLength(steps);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1.6 * kilobyte);
  expect(total / steps).toBeLessThanOrEqual(1.6 * kilobyte);
});

test("no text, argument or result is in the history", () => {
  const bytes = Buffer.concat(events.map(encode));

  for (const mark of marks) expect(bytes.includes(mark)).toBe(false);
  expect(bytes.includes("search")).toBe(true); // names of tools are: what is sought can be found
});

test("each step is shown by its turn and its work, under an id of its own", () => {
  const shown = events
    .filter(isScheduled)
    .map((event) => [
      event.activityTaskScheduledEventAttributes?.activityId?.replace(/-\d+$/, ""),
      summaryOf(event),
    ]);
  const ids = runs.map(({ events: own }) =>
    own.filter(isScheduled).map((event) => event.activityTaskScheduledEventAttributes?.activityId),
  );

  expect(shown.slice(4, 6)).toEqual([
    ["reply-3", "turn 3: reply"],
    ["tools-3.1", "turn 3: search, fetch"],
  ]);
  expect(shown.at(-1)).toEqual([`reply-${turns + 1}`, `turn ${turns + 1}: reply`]);
  for (const own of ids) expect(new Set(own).size).toBe(own.length);
});

test("a workflow is continued as new only when no step is under way", () => {
  const continued = runs.filter(
    (run) => run.events.at(-1)?.workflowExecutionContinuedAsNewEventAttributes,
  );

  expect(continued.length).toBe(runs.length - 1);
  expect(continued.length).toBeGreaterThanOrEqual(2);
  for (const run of continued) {
    const ended = run.events.filter((event) => event.activityTaskCompletedEventAttributes);
    expect(ended).toHaveLength(run.events.filter(isScheduled).length);
  }
});

function longAgent(): ReturnType<typeof defineAgent> {
  const [text, argument, result] = marks;
  const usage: ScriptedPart = {
    usage: { inputTokens: 12_345, outputTokens: 678, cachedTokens: 9_876 },
  };
  const replies = Array.from({ length: turns }, (_, turn) => [
    say(`${text} ${turn}`),
    call("search", { query: `${argument} ${turn}` }),
    call("fetch", { query: `${argument} ${turn}` }),
    usage,
  ]);
  const model = scriptedModel([...replies, [say(`${text}!`), usage]], { chunk: "whole" });
  const input = z.object({ query: z.string() });
  const run = (): string => result;
  const unused = Array.from({ length: toolCount - 2 }, (_, at) => `another_tool_${at}`);
  const tools = ["search", "fetch", ...unused].map((name) =>
    defineTool({ name, input, effect: name === "fetch" ? "pure" : "effectful", run }),
  );
  return defineAgent({ model, tools, limits: { turns: turns + 1 } });
}

function isScheduled(event: HistoryEvent): boolean {
  return Boolean(event.activityTaskScheduledEventAttributes);
}

/** The bytes of each step: the workflow task that begins it, and the activity. */
function stepSizes({ events: own }: StoredRun): readonly number[] {
  return own.flatMap((event, at) => {
    if (!isScheduled(event)) return [];
    const task = own
      .slice(0, at)
      .findLastIndex((before) => before.workflowTaskScheduledEventAttributes);
    const step = own.slice(task, at + 3).filter((part) => !part.markerRecordedEventAttributes);
    return [step.reduce((sum, part) => sum + encode(part).length, 0)];
  });
}

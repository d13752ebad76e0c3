/** A stop at every event of 40 scripted sessions: all that shows a run shows that it was stopped. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Session } from "@millrace/agent";
import type { Fact, Narration, RunEvent } from "@millrace/core";
import type { SessionStore } from "@millrace/core/ports";
import { checkTranscript, sessionId } from "@millrace/core/writing";
import { memorySessionStore } from "@millrace/core/memory";
import { fileStore } from "@millrace/stores/file";
import { afterAll, expect, it } from "vitest";
import { runs } from "../kit/runs.ts";
import { scripts } from "./scripts.ts";
import type { Script } from "./scripts.ts";
import { screenOf, storyOfFacts, storyOfNarration } from "./story.ts";
import type { Story } from "./story.ts";

const folder = await mkdtemp(join(tmpdir(), "millrace-stops-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
const rounds = runs(1, 30);
const counts = { sessions: 0, stops: 0, aborted: 0 };

interface Trial {
  readonly name: string;
  readonly store: SessionStore;
  /** The number of the event at which the stop is sent, from 0. */
  readonly at: number;
}

interface Played {
  /** Whether the run had that many events. */
  readonly stopped: boolean;
  readonly story: Story;
}

/** One run, stopped at one event, looked at from every side before and after reopening. */
async function play(script: Script, { name, store, at }: Trial): Promise<Played> {
  let seen = 0;
  let session: Session | undefined;
  const observe = (event: RunEvent): void => {
    if (session === undefined) return;
    if (seen === at) session.abort();
    else if (seen < at) script.react?.(session, event);
    seen += 1;
  };
  const agent = script.agent([observe]);
  session = await agent.open({ id: name, store });
  const run = session.send("go");
  const told: Narration[] = [];
  for await (const one of run.narrate()) told.push(one);
  const { outcome } = await run.result;
  const facts = await factsOf(store, name);
  const story = storyOfFacts(facts, run.id);
  // A prompt that was taken back has no facts of a run: whoever sent it gets the end of one all the same.
  const ending = { ...story, outcome: story.outcome ?? "aborted" };
  expect(storyOfNarration(told)).toEqual(ending);
  expect(outcome).toBe(ending.outcome);
  expectScreen(session, story);
  for (const child of childrenOf(facts)) checkChild(await factsOf(store, child));
  await session.close();
  const again = await script.agent([]).open({ id: name, store });
  expectScreen(again, story);
  expect(again.transcript).toEqual(session.transcript);
  await again.close();
  expect(await factsOf(store, name)).toEqual(facts);
  return { stopped: seen > at, story };
}

/** A prompt that was taken back began no run, so there is nothing to show. */
function expectScreen(session: Session, { outcome, item, aborted }: Story): void {
  expect(screenOf(session)).toEqual({ status: "idle", outcome, item, aborted });
  expect(checkTranscript(session.transcript).filter(({ code }) => code !== "out_of_order")).toEqual(
    [],
  );
}

async function factsOf(store: SessionStore, name: string): Promise<readonly Fact[]> {
  const record = await store.find(sessionId(name));
  return record === undefined ? [] : await store.read(record.uid);
}

function childrenOf(facts: readonly Fact[]): readonly string[] {
  return facts.flatMap((fact) =>
    fact.type === "tool_execution_started" && fact.childSessionId !== undefined
      ? [fact.childSessionId]
      : [],
  );
}

/** The session of a sub-agent tells the same of its own run by itself. */
function checkChild(facts: readonly Fact[]): void {
  for (const fact of facts)
    if (fact.type === "run_started") expectAborted(storyOfFacts(facts, fact.runId));
}

/** A run that was stopped says so in its item and its turn, once; no other run does. */
function expectAborted({ outcome, turn, item, aborted }: Story): void {
  expect(outcome).toBeDefined();
  const stopped = outcome === "aborted";
  expect({ turn: turn === "aborted", item: item === "aborted", aborted }).toEqual({
    turn: stopped,
    item: stopped,
    aborted: stopped ? 1 : 0,
  });
}

it.each(scripts.map((script) => [script.name, script] as const))("%s", async (name, script) => {
  counts.sessions += 1;
  for (let round = 0; round < rounds; round += 1) {
    const memory = memorySessionStore();
    await using file = fileStore(join(folder, "sessions"), { fsync: "never" });
    for (let at = 0; ; at += 1) {
      const store = at % 4 === round % 4 ? file : memory;
      const trial = { name: `${counts.sessions}_${round}_${at}`, store, at };
      const { stopped, story } = await play(script, trial).catch((error: unknown) => {
        throw new Error(`${name}: a stop at event ${at}`, { cause: error });
      });
      if (story.outcome !== undefined) expectAborted(story);
      if (!stopped) break;
      counts.stops += 1;
      if (story.outcome === "aborted") counts.aborted += 1;
      if (at > 200) throw new Error("the run has too many events");
    }
  }
});

it("counts 40 sessions and more, most of whose stops took effect", () => {
  const { sessions, stops, aborted } = counts;
  console.log(
    `count: a stop at every event, ${sessions} sessions, ${stops} stops, ${aborted} aborted runs`,
  );
  expect(sessions).toBeGreaterThanOrEqual(40);
  expect(aborted).toBeGreaterThan(stops * 0.7);
});

import { beforeAll, expect, test } from "vitest";
import { Random } from "../kit/random.ts";
import { runs } from "../kit/runs.ts";
import { recordAll, recordSeeds } from "../positions/record-all.ts";
import { heldMessages } from "./kit/ag-ui-oracle.ts";
import { AgUiPage, historyMessages } from "./kit/ag-ui-page.ts";
import type { PageWay } from "./kit/ag-ui-page.ts";
import { toTheLetter, writtenParts } from "./kit/oracle.ts";
import { watchedSession } from "./kit/sessions.ts";
import type { WatchedRun, WatchedSession } from "./kit/sessions.ts";

const sessions = runs(300, 20_000, 20);
/** Of these every position of every run is used, by a page that comes there and by one that is cut there. */
const whole = runs(2, 200);
const watched: WatchedSession[] = [];
const count = { pages: 0, requests: 0, snapshots: 0, parts: 0 };

// The same sessions as those of the other dialects' laws: each run of the test has the same.
beforeAll(async () => {
  for (const recording of await recordAll(sessions)) watched.push(await watchedSession(recording));
}, 3_600_000);

test("an agent of AG-UI ends with the messages that were stored, from the start, from any moment, cut off and slow", async () => {
  const random = new Random(21);
  for (const session of watched) {
    for (const [at, run] of session.runs.entries()) {
      const ways = waysOf(random, run);
      // Each run from its start, and in one of the other ways, by both versions in turn.
      const isVersion1 = (session.seed + at) % 2 === 0;
      await follow(session, run, { from: run.first }, isVersion1);
      const way = ways[(session.seed + at) % ways.length] ?? { from: run.first };
      await follow(session, run, way, !isVersion1);
    }
  }
  const { pages, requests, snapshots, parts } = count;
  console.log(
    `count: AG-UI 1.0.0 and 0.0.59, ${watched.length} sessions, ${pages} agents with ${parts} parts, ${requests} requests, ${snapshots} snapshots of messages, 0 differences`,
  );
  expect(snapshots).toBeGreaterThan(0);
}, 3_600_000);

test("an agent that comes or is cut off at any position ends with the messages that were stored", async () => {
  const before = count.pages;
  for (const session of watched.slice(0, whole))
    for (const run of session.runs)
      for (let at = run.first; at <= run.last; at += 1) {
        await follow(session, run, { from: at }, at % 2 === 0);
        await follow(session, run, { from: run.first, cuts: [at] }, at % 2 !== 0);
      }
  console.log(`count: AG-UI 1.0.0 and 0.0.59, ${count.pages - before} positions, 0 differences`);
}, 3_600_000);

test("sessions that a campaign found to come out wrong come out right", async () => {
  // Another attempt has a message of another kind in the place of reasoning, or a result between two messages.
  const found: readonly [number, string, boolean, PageWay][] = [
    [6937, "run_2", false, { from: 52, slow: [65, 81] }],
    [7783, "run_2", false, { from: 14, slow: [23, 57] }],
    [11_873, "run_1", true, { from: 2, slow: [31, 58] }],
    [12_251, "run_1", true, { from: 2, slow: [31, 40] }],
  ];
  const recordings = await recordSeeds(found.map(([seed]) => seed));
  for (const [at, [, runId, isVersion1, way]] of found.entries()) {
    const recording = recordings[at];
    const session = recording && (await watchedSession(recording));
    const run = session?.runs.find((each) => each.runId === runId);
    if (session === undefined || run === undefined) throw new Error(`no ${runId} was recorded`);
    await follow(session, run, way, isVersion1);
  }
});

async function follow(
  session: WatchedSession,
  run: WatchedRun,
  way: PageWay,
  isVersion1 = true,
): Promise<void> {
  const told = await new AgUiPage(session, run, way, isVersion1).read();
  const version = isVersion1 ? "1.0.0" : "0.0.59";
  const place = `session ${session.seed}, ${run.runId}, ${version}, ${JSON.stringify(way)}`;
  expect(told.messages, place).toEqual(historyMessages(session, run));
  const held = heldMessages(told.messages);
  expect(held, place).toEqual(writtenParts(session, run, toTheLetter));
  count.pages += 1;
  count.requests += told.requests;
  count.snapshots += told.snapshots;
  count.parts += held.length;
}

function waysOf(random: Random, { first, last }: WatchedRun): readonly PageWay[] {
  const any = (): number => first + random.below(last - first);
  const [start = first, end = last] = [any(), any()].toSorted((left, right) => left - right);
  return [{ from: any() }, { from: first, cuts: [any()] }, { from: first, slow: [start, end] }];
}

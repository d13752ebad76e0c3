import { beforeAll, expect, test } from "vitest";
import { Random } from "../kit/random.ts";
import { runs } from "../kit/runs.ts";
import { recordAll } from "../positions/record-all.ts";
import { versions } from "./kit/chat.ts";
import type { Version } from "./kit/chat.ts";
import { heldParts, writtenParts } from "./kit/oracle.ts";
import { comparable, historyMessage, Page } from "./kit/page.ts";
import type { Way } from "./kit/page.ts";
import { watchedSession } from "./kit/sessions.ts";
import type { WatchedRun, WatchedSession } from "./kit/sessions.ts";

const sessions = runs(300, 20_000, 20);
/** Of these every position of every run is used, by pages of all versions. */
const whole = runs(2, 200);
const watched: WatchedSession[] = [];
const count = { pages: 0, requests: 0, anew: 0, parts: 0 };

// Sessions of the real agent: replies that fail and are repeated, takeovers, tools at once, questions, notes
// of people in between, stops, compaction. The same for each run of the test.
beforeAll(async () => {
  for (const recording of await recordAll(sessions)) watched.push(await watchedSession(recording));
}, 3_600_000);

test("a page ends with the message that was stored, from the start, from any moment, and if it is slow", async () => {
  const random = new Random(21);
  for (const session of watched) {
    for (const [at, run] of session.runs.entries()) {
      for (const [turn, way] of waysOf(random, run).entries()) {
        const version = versions[(session.seed + at + turn) % versions.length] ?? 7;
        await follow(version, session, run, way);
      }
    }
  }
  const { pages, requests, anew, parts } = count;
  console.log(
    `count: AI SDK, ${watched.length} sessions, ${pages} pages with ${parts} parts, ${requests} requests, ${anew} loaded anew, 0 differences`,
  );
  expect(anew).toBeGreaterThan(0);
}, 3_600_000);

test("a page that resumes at any position ends with the message that was stored", async () => {
  const before = count.pages;
  for (const session of watched.slice(0, whole))
    for (const run of session.runs)
      for (let from = run.first; from <= run.last; from += 1)
        for (const version of versions) await follow(version, session, run, { from });
  console.log(`count: AI SDK, ${count.pages - before} positions, 0 differences`);
}, 3_600_000);

async function follow(
  version: Version,
  session: WatchedSession,
  run: WatchedRun,
  way: Way,
): Promise<void> {
  const told = await new Page(version, session, run, way).read();
  const place = `session ${session.seed}, ${run.runId}, version ${version}, ${JSON.stringify(way)}`;
  expect(comparable(version, told.message), place).toEqual(historyMessage(version, session, run));
  const held = heldParts(told.message);
  const written = writtenParts(session, run);
  const asHeld = version === 5 ? written.map(withoutDenial) : written;
  expect(version === 5 ? held.map(withoutDenial) : held, place).toEqual(asHeld);
  count.pages += 1;
  count.requests += told.requests;
  count.anew += told.reloads;
  count.parts += held.length;
}

/** For 5 a call that was denied failed. */
function withoutDenial(part: string): string {
  return part.replace(/output-(?:denied|error).*$/s, "not done");
}

function waysOf(random: Random, { first, last }: WatchedRun): readonly Way[] {
  const any = (): number => first + random.below(last - first);
  const [start = first, end = last] = [any(), any()].toSorted((left, right) => left - right);
  return [{ from: first }, { from: any() }, { from: first, slow: [start, end] }];
}

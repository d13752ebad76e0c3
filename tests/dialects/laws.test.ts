import { beforeAll, expect, test } from "vitest";
import { Random } from "../kit/random.ts";
import { runs } from "../kit/runs.ts";
import { recordAll } from "../positions/record-all.ts";
import { stored, versions } from "./kit/chat.ts";
import { historyMessage, Page } from "./kit/page.ts";
import type { Way } from "./kit/page.ts";
import { watchedSession } from "./kit/sessions.ts";
import type { WatchedRun, WatchedSession } from "./kit/sessions.ts";

const sessions = runs(300, 20_000);
const watched: WatchedSession[] = [];

beforeAll(async () => {
  for (const recording of await recordAll(sessions)) watched.push(await watchedSession(recording));
}, 3_600_000);

test("a page that comes at any moment of a run ends with the message that the history has", async () => {
  const random = new Random(21);
  let [pages, requests, reloads] = [0, 0, 0];
  for (const session of watched) {
    for (const run of session.runs) {
      for (const version of versions) {
        const expected = historyMessage(version, session, run);
        for (const way of waysOf(random, run)) {
          const told = await new Page(version, session, run, way).read();
          const place = `session ${session.seed}, ${run.runId}, version ${version}, ${JSON.stringify(way)}`;
          expect(stored(told.message), place).toEqual(expected);
          pages += 1;
          requests += told.requests;
          reloads += told.reloads;
        }
      }
    }
  }
  console.log(`count: AI SDK pages, ${watched.length} sessions, ${pages} pages, ${requests} requests, ${reloads} loaded anew, 0 differences`);
}, 3_600_000);

function waysOf(random: Random, { first, last }: WatchedRun): readonly Way[] {
  const length = last - first;
  const any = (): number => first + random.below(length);
  const [start, end] = [any(), any()].toSorted((left, right) => left - right);
  return [
    { from: first },
    { from: any() },
    { from: first, slow: [start ?? first, end ?? last] },
  ];
}

import { beforeAll, describe, expect, it } from "vitest";
import { runs } from "../kit/runs.ts";
import { openBackend } from "./backends.ts";
import type { BackendName } from "./backends.ts";
import { play } from "./play.ts";
import { recordAll } from "./record-all.ts";
import type { Recording } from "./record.ts";
import { emptyTally } from "./tally.ts";

const sessions = 200;
const recordings: Recording[] = [];
/** Final states by session. */
const finals = new Map<number, string>();

/** What each of the recordings is there for is in some of them. */
const wanted = [
  "lanes at once",
  "another attempt, or all of it anew",
  "takeover",
  "batch with bytes",
  "run aborted",
  "run completed",
  "approval_requested",
  "approval_resolved",
  "compaction_finished",
  "tool_execution_finished",
];

beforeAll(async () => {
  recordings.push(...(await recordAll(sessions)));
}, 300_000);

// How many sessions at once, and what share of the further cursors is used: on a network each way
// back takes milliseconds, and there are many ways.
describe.each<[BackendName, number, number]>([
  ["memory", 1, runs(16, 1)],
  ["files + memory log", 1, runs(16, 4)],
  ["PostgreSQL + Redis", 4, 16],
])("on %s", (name, width, oneIn) => {
  it(
    "a viewer that reconnects at any cursor ends like one that watched from the start",
    { timeout: runs(900_000, 7_200_000) },
    async () => {
      await using backend = await openBackend(name, recordings);
      const tally = emptyTally();
      const queue = recordings.values();
      const work = async (): Promise<void> => {
        for (const recording of queue) {
          const played = await play({ recording, backend, tally, oneIn });
          const final = played.replaceAll(/"time":\d+/g, '"time":0');
          // The same on all backends, to the letter, but for the times: each store has its own clock.
          expect(final).toBe(finals.get(recording.seed) ?? final);
          finals.set(recording.seed, final);
        }
      };
      await Promise.all(Array.from({ length: width }, work));

      const { cursors, others, last, midway, amid, late, atEnd, operations, held } = tally;
      const told = [...held].map(([what, times]) => `${what} ${times}`).join(", ");
      console.log(
        `count: every position on ${name}, ${tally.sessions} sessions, ${cursors} cursors given to who ` +
          `watched from the start and ${others} to others, ${midway} came back on the way, ${amid} ` +
          `from the midst of a welcome, ${atEnd} at the end, ${late} newcomers, at most ${operations} operation per part, 0 failures`,
      );
      console.log(`count: every position on ${name} (${told})`);
      expect(tally.sessions).toBe(sessions);
      expect(midway).toBe(2 * (cursors - last));
      expect(atEnd).toBeGreaterThanOrEqual(3 * (cursors + Math.floor(others / oneIn / 2)));
      expect(amid).toBeGreaterThan(0);
      expect(operations).toBe(1);
      expect(wanted.filter((what) => !held.has(what))).toStrictEqual([]);
    },
  );
});

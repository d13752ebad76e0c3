import { randomUUID } from "node:crypto";
import { sessionId } from "@millrace/core/writing";
import type { SessionStore } from "@millrace/core/ports";
import { memorySessionStore } from "@millrace/core/memory";
import { manualClock } from "@millrace/core/testing";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { engines, operation, perform, progressOf } from "../testing/operations.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { openDatabase } from "../testing/postgres.ts";
import type { Database } from "../testing/postgres.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { postgresStore } from "./postgres-store.ts";

let database: Database;

beforeAll(async () => {
  database = await openDatabase();
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

const clock = manualClock(1_700_000_000_000);
const times = runs(150, 15_000);

describe("the rules in PostgreSQL", () => {
  it(
    "give the same answers and facts as those in memory, whichever of two processes is asked",
    async () => {
      const pool = database.pool();
      // Each remembers the rows that it wrote, and must notice that the other one has written since.
      const stores = [0, 1].map(() => postgresStore({ pool, clock }));
      const seen = new Map<string, number>();
      const seenStatus = new Map<string, number>();
      const step = fc.tuple(fc.constantFrom(0, 0, 0, 1), operation);
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40, size: "max" }), async (steps) => {
          const name = sessionId(randomUUID());
          const memory: SessionStore = memorySessionStore({ clock });
          const expected = await memory.create({ sessionId: name });
          const { uid } = await stores[0]!.create({ sessionId: name });
          for (const [which, made] of steps) {
            const record = await progressOf(memory, name);
            const right = await perform(memory, expected.uid, record, made);
            const answer = await perform(stores[which]!, uid, record, made);
            expect(withoutTimes(answer)).toEqual(withoutTimes(right));
            const what = `${made.call} ${right.outcome}`;
            seen.set(what, (seen.get(what) ?? 0) + 1);
          }

          const [one, other] = stores;
          const stored = await memory.read(expected.uid);
          expect(withoutTimes(await one!.read(uid))).toEqual(withoutTimes(stored));
          const due = await one!.drivers!.due({ limit: times });
          expect(due.some((session) => session.uid === uid)).toBe(
            (await memory.drivers!.due()).length > 0,
          );
          expect(await other!.floors(uid)).toEqual(await memory.floors(expected.uid));
          for (const by of engines) {
            const claimed = await memory.claimedBy(expected.uid, by);
            expect(await other!.claimedBy(uid, by)).toBe(claimed);
          }
          const right = (await memory.drivers!.find(expected.uid))?.by;
          expect((await other!.drivers!.find(uid))?.by).toBe(right);
          const own = { uid: "", createdAt: 0, updatedAt: 0 };
          const found = await one!.find(name);
          expect({ ...found, ...own }).toEqual({
            ...(await memory.find(name)),
            ...own,
            tenant: "default",
          });
          const status = found?.status ?? "none";
          seenStatus.set(status, (seenStatus.get(status) ?? 0) + 1);
          expect((await one!.verify(name)).ok).toBe(true);
        }),
        { numRuns: times },
      );

      const all = [...seen].toSorted(([left], [right]) => (left < right ? -1 : 1));
      console.log(
        `count: ${times} histories; ${all.map(([what, n]) => `${what} ${n}`).join(", ")}`,
      );
      expect(all.length).toBe(14); // every answer of every call was there
      expect([...seenStatus.keys()].toSorted()).toEqual(["idle", "paused", "running"]);
    },
    patience * 5,
  );
});

/** The facts of an answer have the time of the database, those in memory the clock's. */
function withoutTimes(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, own: unknown) => (key === "time" ? 0 : own));
}

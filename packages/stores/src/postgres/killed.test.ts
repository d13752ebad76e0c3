import { sessionId } from "@millrace/core/writing";
import type { Fact } from "@millrace/core";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { Pool } from "pg";
import { describe, expect, it } from "vitest";
import { startPostgres } from "../../../../scripts/services/postgres.ts";
import { operation, perform, progressOf } from "../testing/operations.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { prepareDatabase } from "../testing/postgres.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { prompt } from "../testing/fixtures.ts";
import { isLost } from "./connection.ts";
import { postgresStore } from "./postgres-store.ts";

describe("a server that is stopped", () => {
  it(
    "is noticed, and what it does when it goes on is not done twice",
    async () => {
      await using server = await startPostgres();
      await using database = await prepareDatabase(server, "postgres");
      const limits = { query_timeout: 500, connectionTimeoutMillis: 500 };
      const pool = new Pool({ connectionString: database.url, pipeline: true, max: 2, ...limits });
      pool.on("error", () => undefined);
      const store = postgresStore({ pool });
      const name = sessionId("talk");
      const { uid } = await store.create({ sessionId: name });
      const rounds = runs(5, 200);
      for (let round = 0; round < rounds; round += 1) {
        // Odd rounds know the row, even ones have to look first.
        const used = round % 2 === 0 ? postgresStore({ pool }) : store;
        await store.accept(uid, `before_${round}`, prompt(`before_${round}`));
        await server.stop();
        const waking = sleep(600 + round * 100).then(() => server.cont());

        const answer = await used.accept(uid, `key_${round}`, prompt(`input_${round}`));

        await waking;
        expect(answer).toMatchObject({ outcome: "accepted", facts: [{ n: 2 * round + 2 }] });
      }
      await sleep(300); // whatever still waits in the server is done by then
      console.log(`count: ${rounds} stops`);
      expect(await store.verify(name)).toMatchObject({ ok: true, facts: 2 * rounds });
      await pool.end();
    },
    patience * 5,
  );
});

describe("a server that is killed", () => {
  it(
    "again and again loses nothing that was answered and leaves no half of a call",
    async () => {
      await using server = await startPostgres();
      await using database = await prepareDatabase(server, "postgres");
      const stores = [0, 1].map(() => postgresStore({ pool: database.pool() }));
      const name = sessionId("talk");
      const { uid } = await stores[0]!.create({ sessionId: name });
      const rounds = runs(25, 500, 8);
      const steps = fc.sample(operation, { seed: 7, numRuns: 2_000 });
      const answered = new Map<number, Fact>();
      let [kills, thrown] = [0, 0];
      const made = { calls: 0 };
      const over = new AbortController();
      const killing = (async () => {
        for (; kills < rounds; kills += 1) {
          // In the middle of work: some calls after the last time, at no moment in particular.
          const enough = made.calls + 12;
          for (let waits = 0; made.calls < enough && waits < 2_000; waits += 1) await sleep(5);
          await sleep((kills * 97) % 30);
          await server.kill();
          await server.restart();
        }
        over.abort();
      })();
      /** Two writers at once, each of which asks again where the session is. */
      const write = async (which: number): Promise<void> => {
        for (let at = which; !over.signal.aborted; at += 2) {
          made.calls += 1;
          try {
            const progress = await progressOf(stores[1 - which]!, name);
            const step = steps[at % steps.length]!;
            const answer = await perform(stores[which]!, uid, progress, step);
            for (const fact of "facts" in answer ? (answer.facts as readonly Fact[]) : []) {
              expect(answered.has(fact.n)).toBe(false); // no number is given twice
              answered.set(fact.n, fact);
            }
          } catch (error) {
            expect(isLost(error), String(error)).toBe(true);
            thrown += 1;
          }
        }
      };

      await Promise.all([write(0), write(1), killing]);

      const facts = await stores[0]!.read(uid);
      console.log(
        `count: ${made.calls} calls, ${kills} kills, ${thrown} thrown, ${facts.length} facts, ${answered.size} answered`,
      );
      expect(facts.map(({ n }) => n)).toEqual(facts.map((_, at) => at + 1));
      for (const [n, fact] of answered) expect(facts[n - 1]).toEqual(fact);
      expect(await stores[1]!.verify(name)).toMatchObject({ ok: true, facts: facts.length });
      expect(answered.size).toBeGreaterThan(rounds);
    },
    patience * 10,
  );
});

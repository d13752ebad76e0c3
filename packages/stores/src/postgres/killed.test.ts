import { sessionId } from "@millrace/core";
import type { Fact } from "@millrace/core";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { Pool } from "pg";
import { describe, expect, it } from "vitest";
import { startPostgres } from "../../../../scripts/services/postgres.ts";
import { operation, perform, progressOf } from "../testing/operations.ts";
import { patience } from "../testing/patience.ts";
import { prepareDatabase } from "../testing/postgres.ts";
import { runs } from "../testing/runs.ts";
import { prompt } from "../testing/scene.ts";
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
      const rounds = runs(200, 4_000);
      const steps = fc.sample(operation, { seed: 7, numRuns: rounds * 2 });
      const answered = new Map<number, Fact>();
      let [kills, thrown] = [0, 0];
      const over = new AbortController();
      const killing = (async () => {
        for (let round = 0; !over.signal.aborted && round < rounds; round += 1) {
          await sleep(150 + ((round * 97) % 300));
          await server.kill();
          kills += 1;
          await server.restart();
        }
      })();
      /** Two writers at once, each of which asks again where the session is. */
      const write = async (which: number): Promise<void> => {
        for (let at = 0; at < rounds; at += 1) {
          try {
            const progress = await progressOf(stores[1 - which]!, name);
            const made = steps[at * 2 + which]!;
            const answer = await perform(stores[which]!, uid, progress, made);
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

      await Promise.all([write(0), write(1)]);
      over.abort();
      await killing;

      const facts = await stores[0]!.read(uid);
      console.log(
        `count: ${rounds * 2} calls, ${kills} kills, ${thrown} thrown, ${facts.length} facts, ${answered.size} answered`,
      );
      expect(facts.map(({ n }) => n)).toEqual(facts.map((_, at) => at + 1));
      for (const [n, fact] of answered) expect(facts[n - 1]).toEqual(fact);
      expect(await stores[1]!.verify(name)).toMatchObject({ ok: true, facts: facts.length });
      expect(kills).toBeGreaterThan(3);
      expect(answered.size).toBeGreaterThan(rounds / 4);
    },
    patience * 10,
  );
});

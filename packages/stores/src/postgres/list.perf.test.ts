import { afterAll, beforeAll, expect, it } from "vitest";
import { retryWhenNoisy } from "../../../../tests/kit/retry-when-noisy.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { openDatabase } from "../testing/postgres.ts";
import type { Database } from "../testing/postgres.ts";
import { postgresStore } from "./postgres-store.ts";

let database: Database;

beforeAll(async () => {
  database = await openDatabase();
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

const [few, many] = [1_000, runs(10_000, 100_000)];
const pages = 100;

async function insertSessions(tenant: string, count: number): Promise<void> {
  await database.admin(
    `insert into millrace.session (uid, tenant, name, metadata, chain, queue)
     select $1 || n, $1, decode(regexp_replace(encode(lpad(n::text, 8, '0')::bytea, 'hex'), '(..)', '00\\1', 'g'), 'hex'),
       '{}', '', '[]' from generate_series(1, $2::int) n`,
    [tenant, count],
  );
}

it(`a page of 50 sessions takes at most twice as long among ${many} as among ${few}`, async () => {
  await insertSessions("few", few);
  await insertSessions("many", many);
  await database.admin("analyze millrace.session");
  const pool = database.pool({ max: 1 });
  /** Milliseconds for a page, at places spread over all: the median. */
  const timeOf = async (tenant: string, count: number): Promise<number> => {
    const store = postgresStore({ pool, tenant });
    const times: number[] = [];
    for (let at = 0; at < pages; at += 1) {
      const after = `${Math.floor(((count - 50) * at) / pages)}`.padStart(8, "0");
      const started = performance.now();
      const page = await store.list({ after, limit: 50 });
      times.push(performance.now() - started);
      expect(page).toHaveLength(50);
      expect(page[0]?.sessionId).toBe(`${Number(after) + 1}`.padStart(8, "0"));
    }
    return times.toSorted((one, other) => one - other)[pages / 2]!;
  };
  await timeOf("few", few);
  await timeOf("many", many);

  const times = await retryWhenNoisy(
    async () => ({ few: await timeOf("few", few), many: await timeOf("many", many) }),
    (figures) => figures.many <= 2 * figures.few,
  );

  const figures = Object.values(times).map((ms) => `${ms.toFixed(2)} ms`);
  console.log(`count: a page of 50 of ${few} and of ${many} sessions: ${figures.join(", ")}`);
  expect(times.many).toBeLessThanOrEqual(2 * times.few);
});

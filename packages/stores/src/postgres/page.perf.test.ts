import { afterAll, beforeAll, expect, it } from "vitest";
import type { PageQuery } from "@millrace/core/ports";
import type { Pool } from "pg";
import { retryWhenNoisy } from "../../../../tests/kit/retry-when-noisy.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { openDatabase } from "../testing/postgres.ts";
import type { Database } from "../testing/postgres.ts";
import { postgresStore } from "./postgres-store.ts";
import { rowColumns } from "./row.ts";

let database: Database;

beforeAll(async () => {
  database = await openDatabase();
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

const many = runs(20_000, 100_000);
const owners = 100;
const rounds = 40;
/** Decoding the rows is most of it. A guard, no promise. */
const limit = 4;

/** Sessions of a tenant: of many owners, one in 200 at work. */
async function insertSessions(tenant: string): Promise<void> {
  await database.admin(
    `insert into millrace.session (uid, tenant, name, metadata, chain, queue, calls, owner, title,
       title_folded, created_at, updated_at, status, due_since)
     select $1 || n, $1, decode(regexp_replace(encode(lpad(n::text, 8, '0')::bytea, 'hex'), '(..)', '00\\1', 'g'), 'hex'),
       '{}', '', '[]', '[]', convert_to('owner ' || n % $3::int, 'UTF8'), convert_to('Talk ' || n, 'UTF8'),
       convert_to('talk ' || n, 'UTF8'), n, n, case when n % 200 = 0 then 'paused' else 'idle' end,
       case when n % 200 = 0 then now() end
     from generate_series(1, $2::int) n`,
    [tenant, many, owners],
  );
}

/** Milliseconds of each, in turns: the least, since noise only adds. */
async function leastOf(
  works: Readonly<Record<string, (round: number) => Promise<unknown>>>,
): Promise<Readonly<Record<string, number>>> {
  const least: Record<string, number> = {};
  for (let round = 0; round < rounds; round += 1) {
    for (const [what, work] of Object.entries(works)) {
      const started = performance.now();
      await work(round);
      least[what] = Math.min(least[what] ?? Infinity, performance.now() - started);
    }
  }
  return least;
}

/** The same rows by the primary key, as they come out of the driver. */
async function bareOf(pool: Pool): Promise<(round: number) => Promise<unknown>> {
  const client = await pool.connect();
  await client.query("select set_config('millrace.tenant', 'many', false)");
  client.release();
  return (round) =>
    pool.query({
      name: "bare",
      text: `select ${rowColumns} from millrace.session where uid = any($1)`,
      values: [Array.from({ length: 50 }, (_, at) => `many${round * 50 + at + 1}`)],
    });
}

const queries: Readonly<Record<string, PageQuery>> = {
  tenant: {},
  owner: { owner: "owner 7" },
  "owner, by title": { owner: "owner 7", title: "TALK" },
  status: { status: "paused" },
};

it(`a page of 50 of ${many} sessions costs a few times reading 50 rows, by whichever index`, async () => {
  await insertSessions("many");
  await insertSessions("other");
  await database.admin("analyze millrace.session");
  const pool = database.pool({ max: 1 });
  const store = postgresStore({ pool, tenant: "many" });
  const bare = await bareOf(database.pool({ max: 1 }));
  const pageBy = (query: PageQuery) => async (): Promise<void> => {
    const first = await store.page(query);
    expect(first.records).toHaveLength(50);
  };
  const works: Record<string, (round: number) => Promise<unknown>> = { bare };
  for (const [what, query] of Object.entries(queries)) {
    const { next } = await store.page(query);
    works[what] = pageBy(query);
    works[`${what}, second page`] = pageBy({ ...query, after: next });
  }

  const worst = (times: Readonly<Record<string, number>>): number =>
    Math.max(...Object.values(times));
  const times = await retryWhenNoisy(
    () => leastOf(works),
    (all) => worst(all) < limit * (all["bare"] ?? 0),
  );

  const figures = Object.entries(times).map(([what, ms]) => `${what} ${ms.toFixed(2)} ms`);
  console.log(`count: a page of 50 of ${many} sessions: ${figures.join(", ")}`);
  expect(worst(times)).toBeLessThan(limit * (times["bare"] ?? 0));
}, 300_000);

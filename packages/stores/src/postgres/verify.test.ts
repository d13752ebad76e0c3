import { itemId, sessionId } from "@millrace/core/writing";
import type { SessionId, SessionUid } from "@millrace/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fillSession, prompt } from "../testing/fixtures.ts";
import { openDatabase } from "../testing/postgres.ts";
import type { Database } from "../testing/postgres.ts";
import { postgresStore } from "./postgres-store.ts";
import type { PostgresStore } from "./postgres-store.ts";

let database: Database;
let store: PostgresStore;

beforeAll(async () => {
  database = await openDatabase();
  store = postgresStore({ pool: database.pool() });
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

let count = 0;
async function filled(): Promise<{ readonly uid: SessionUid; readonly name: SessionId }> {
  count += 1;
  const name = sessionId(`talk ${count}`);
  const { uid } = await store.create({ sessionId: name, metadata: { title: "one" } });
  await fillSession(store, uid);
  return { uid, name };
}

/** Changes of the tables behind the store's back, and what `verify` finds. The session has 9 facts. */
const tamperings: readonly (readonly [what: string, sql: string, code: string, n: number])[] = [
  [
    "a body is edited",
    "update fact set body = replace(body, 'text', 'test') where uid = ME and n = 5",
    "changed",
    5,
  ],
  ["a space is added", "update fact set body = body || ' ' where uid = ME and n = 1", "changed", 1],
  ["the first fact is gone", "delete from fact where uid = ME and n = 1", "missing", 1],
  ["a fact is gone", "delete from fact where uid = ME and n = 4", "missing", 4],
  ["the last fact is gone", "delete from fact where uid = ME and n = 9", "missing", 9],
  ["the last facts are gone", "delete from fact where uid = ME and n > 6", "missing", 7],
  ["all facts are gone", "delete from fact where uid = ME", "missing", 1],
  [
    "two facts change places",
    `update fact set n = 100 where uid = ME and n = 3;
     update fact set n = 3 where uid = ME and n = 4;
     update fact set n = 4 where uid = ME and n = 100`,
    "changed",
    3,
  ],
  [
    "two bodies change places",
    `update fact a set body = b.body from fact b
     where a.uid = ME and b.uid = ME and a.n in (3, 4) and b.n = 7 - a.n`,
    "changed",
    3,
  ],
  [
    "a fact is there twice",
    `insert into fact select uid, 10, tenant, type, null, null, token, body, hash from fact
     where uid = ME and n = 8`,
    "changed",
    10,
  ],
  [
    "a key is another one",
    "update fact set key = sha256('x') where uid = ME and n = 2",
    "changed",
    2,
  ],
  ["a key is gone", "update fact set key = null where uid = ME and n = 2", "changed", 2],
  [
    "a hash is another one",
    "update fact set hash = sha256('x') where uid = ME and n = 6",
    "changed",
    6,
  ],
  [
    "a type is another one",
    "update fact set type = 'opaque' where uid = ME and n = 5",
    "changed",
    5,
  ],
  ["an input is another one", "update fact set about = 'x' where uid = ME and n = 2", "changed", 2],
  ["the metadata is edited", "update session set metadata = '{}' where uid = ME", "changed", 1],
  ["the head is lower", "update session set head = 8 where uid = ME", "changed", 10],
  ["the head is higher", "update session set head = 10 where uid = ME", "missing", 10],
  [
    "the row's hash is another one",
    "update session set chain = sha256('x') where uid = ME",
    "changed",
    10,
  ],
  [
    "the incarnation is another one",
    "update session set incarnation = 7 where uid = ME",
    "changed",
    10,
  ],
  ["an item is forgotten", "delete from item where uid = ME and n = 5", "changed", 10],
  ["an item is in another fact", "update item set n = 7 where uid = ME", "changed", 10],
  [
    "an item is invented",
    "insert into item select uid, 'x', 5, tenant from session where uid = ME",
    "changed",
    10,
  ],
];

describe("verify", () => {
  it("finds nothing wrong with what was written, and returns an anchor of its end", async () => {
    const { name } = await filled();

    const verdict = await store.verify(name);

    expect(verdict).toMatchObject({ ok: true, facts: 9, anchor: { n: 9 } });
  });

  it("finds nothing wrong with an empty session, a fork and a reset", async () => {
    const { uid, name } = await filled();
    const fork = await store.fork(uid, { sessionId: sessionId(`${name} again`), n: 7 });
    await store.create({ sessionId: sessionId(`${name} empty`) });
    await store.claim(uid, { from: 1, to: 3 });

    const verdicts = [name, fork.sessionId, sessionId(`${name} empty`)].map((id) =>
      store.verify(id),
    );

    expect(await Promise.all(verdicts)).toMatchObject([
      { ok: true, facts: 10 },
      { ok: true, facts: 7 },
      { ok: true, facts: 0 },
    ]);
    const again = { lane: 0, epoch: 2 ** 31 + 4_097, itemId: itemId("item_1") };
    expect((await store.open(uid, again)).outcome).toBe("opened");
  });

  it("finds nothing wrong while others write", async () => {
    const { uid, name } = await filled();
    const writing = (async () => {
      for (let at = 0; at < 100; at += 1) await store.accept(uid, `${at}`, prompt(`more_${at}`));
    })();

    const lengths: (number | false)[] = [];
    for (let last: number | false = 0; last !== 109 && lengths.length < 10_000;) {
      const verdict = await store.verify(name);
      last = verdict.ok && verdict.facts;
      lengths.push(last);
      if (last === false) break;
    }

    await writing;
    expect(lengths.at(-1)).toBe(109);
    expect(new Set(lengths).size).toBeGreaterThan(5); // it was looked at in between
  });

  for (const [what, sql, code, n] of tamperings) {
    it(`finds that ${what}`, async () => {
      const { uid, name } = await filled();

      await tamper(uid, sql);

      expect(await store.verify(name)).toMatchObject({ ok: false, code, n });
    });
  }

  it("finds by an anchor that the end was cut off with the row made to fit", async () => {
    const { uid, name } = await filled();
    const { anchor } = { anchor: undefined, ...(await store.verify(name)) };

    await tamper(
      uid,
      `delete from fact where uid = ME and n > 8;
       update session s set head = 8, chain = f.hash from fact f
       where s.uid = ME and f.uid = ME and f.n = 8`,
    );

    expect(await store.verify(name)).toMatchObject({ ok: true, facts: 8 });
    expect(await store.verify(name, { anchor })).toMatchObject({ ok: false, code: "not_anchored" });
  });

  it("finds by an anchor that a fact has another hash than it had", async () => {
    const { name } = await filled();
    const { name: other } = await filled();
    const { anchor } = { anchor: undefined, ...(await store.verify(other)) };

    const verdict = await store.verify(name, { anchor });

    expect(verdict).toMatchObject({ ok: false, code: "not_anchored", n: 9 });
  });

  it("throws for a session that is not there", async () => {
    await expect(store.verify(sessionId("nobody"))).rejects.toMatchObject({
      code: "unknown_session",
    });
  });
});

/** Runs SQL as superuser. `ME` is the session. */
async function tamper(uid: SessionUid, sql: string): Promise<void> {
  const own = sql.replaceAll("ME", `'${uid}'`);
  await database.admin(`set search_path to millrace; ${own}; reset search_path`);
}

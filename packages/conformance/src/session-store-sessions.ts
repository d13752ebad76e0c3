import { sessionId, sessionUid } from "@millrace/core/writing";
import type { SessionId, SessionUid } from "@millrace/core";
import type { SessionStore } from "@millrace/core/ports";
import { assert, assertEqual, assertRejects } from "./case.ts";
import type { Case } from "./case.ts";
import { prompt, run } from "./session-store-bodies.ts";
import { accept, append, claim, newName, storeCase } from "./session-store-fixture.ts";
import type { SessionStoreFixture } from "./session-store-fixture.ts";

/** Sessions have names for people; their identity is the uid. */
export const sessionCases: readonly Case<SessionStoreFixture>[] = [
  storeCase("a new session is empty and unclaimed", async ({ store }) => {
    const name = newName();
    const { tenant: _, createdAt, ...record } = await store.create({ sessionId: name });

    const own = { uid: record.uid, sessionId: name, metadata: {}, incarnation: 0, head: 0 };
    assertEqual(
      record,
      { ...own, revision: 1, updatedAt: createdAt, status: "idle" },
      "the record",
    );
    assertEqual(await store.read(record.uid), [], "its facts");
    assertEqual(await store.head(record.uid), 0, "its head");
    assertEqual(await store.floors(record.uid), [], "its floors");
  }),
  storeCase("a session is found by its name as it was created", async ({ store }) => {
    const metadata = { title: "ä \u0000 👩‍👧", tags: ["a", { deep: [null, 1.5, true] }] };
    const created = await store.create({ sessionId: newName(), metadata });

    const found = await store.find(created.sessionId);

    assertEqual(found, created, "the record");
    assertEqual(found?.metadata, metadata, "its metadata");
  }),
  storeCase("a name that is not in use is not found", async ({ store }) => {
    assertEqual(await store.find(newName()), undefined, "the record");
  }),
  storeCase(
    "a text that can't be a name is refused, and nothing is created",
    async ({ store, uid }) => {
      const before = await store.list();
      for (const text of ["", "x".repeat(257), "\ud800"]) {
        await assertRejects(() => store.find(text), "invalid_id", "find");
        await assertRejects(() => store.create({ sessionId: text }), "invalid_id", "create");
        await assertRejects(() => store.fork(uid, { sessionId: text, n: 0 }), "invalid_id", "fork");
      }
      assertEqual(await store.list(), before, "the sessions");
    },
  ),
  storeCase("a uid can stand in keys and cursors", async ({ uid }) => {
    assertEqual(sessionUid(uid), uid, "the uid");
  }),
  storeCase("a name in use can't be created again", async ({ store, uid, sessionId }) => {
    await accept({ store, uid, sessionId }, "key_1", prompt("input_1"));

    await assertRejects(() => store.create({ sessionId }), "session_exists", "the second create");

    assertEqual((await store.find(sessionId))?.uid, uid, "the session of that name");
    assertEqual(await store.head(uid), 1, "its head");
  }),
  storeCase("of creates of one name at once exactly one succeeds", async ({ store }) => {
    const name = newName();

    const answers = await Promise.allSettled(
      Array.from({ length: 10 }, () => store.create({ sessionId: name })),
    );

    const made = answers.filter((answer) => answer.status === "fulfilled");
    assertEqual(made.length, 1, "how many succeeded");
    assertEqual(await store.find(name), made[0]?.value, "the session of that name");
  }),
  storeCase("names may hold any text", async ({ store }) => {
    const odd = ["a b", "a/b?c#d", "'; --", '"', "ü", "👩‍👩‍👧", "%2F", ":", "*", "\\", "x".repeat(200)];
    for (const text of odd) {
      const name = sessionId(`${newName()}${text}`);
      const { uid } = await store.create({ sessionId: name });
      assertEqual((await store.find(name))?.uid, uid, `the session named ${text}`);
    }
  }),
  storeCase("names that differ in case are two names", async ({ store }) => {
    const name = newName();
    const lower = await store.create({ sessionId: sessionId(`${name}_a`) });
    const upper = await store.create({ sessionId: sessionId(`${name}_A`) });

    assert(lower.uid !== upper.uid, "two sessions");
    assertEqual(await store.find(upper.sessionId), upper, "the second one");
  }),
  storeCase("records have the head of the session", async (session) => {
    await claim(session, 0);
    await append(session, [{ type: "run_started", runId: run }]);

    const record = await session.store.find(session.sessionId);

    assertEqual(record?.incarnation, 1, "the incarnation");
    assertEqual(record?.head, 2, "the head");
  }),
  storeCase("sessions are listed in the order of their ids", async ({ store }) => {
    const names = await createSome(store, ["b", "a10", "a9", "B", "_", "a"]);

    const listed = await store.list({ after: names.prefix, limit: 6 });

    const expected = ["B", "_", "a", "a10", "a9", "b"].map((end) => `${names.prefix}${end}`);
    assertEqual(
      listed.map((record) => record.sessionId),
      expected,
      "the ids",
    );
  }),
  storeCase("pages of a list have neither holes nor overlaps", async ({ store }) => {
    const ends = ["0", "1", "2", "3", "4", "5", "6"];
    const { prefix } = await createSome(store, ends);
    const seen: string[] = [];
    let after: SessionId = prefix;

    for (let page = 0; page < 4; page += 1) {
      const records = await store.list({ after, limit: 2 });
      const own = records.filter((record) => record.sessionId.startsWith(prefix));
      seen.push(...own.map((record) => record.sessionId.slice(prefix.length)));
      after = records.at(-1)?.sessionId ?? after;
    }

    assertEqual(seen, ends, "what the pages held");
  }),
  storeCase("a list has the head of each session", async ({ store }) => {
    const { prefix, uids } = await createSome(store, ["x"]);
    await accept({ store, uid: uids[0] as SessionUid, sessionId: prefix }, "key", prompt("i"));

    const [record] = await store.list({ after: prefix, limit: 1 });

    assertEqual(record, await store.find(sessionId(`${prefix}x`)), "the record");
    assertEqual(record?.head, 1, "the head");
  }),
];

async function createSome(
  store: SessionStore,
  ends: readonly string[],
): Promise<{ readonly prefix: SessionId; readonly uids: readonly SessionUid[] }> {
  const prefix = sessionId(`${newName()}_`);
  const uids: SessionUid[] = [];
  for (const end of ends) {
    const { uid } = await store.create({ sessionId: sessionId(`${prefix}${end}`) });
    uids.push(uid);
  }
  return { prefix, uids };
}

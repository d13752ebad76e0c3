import type { SessionRecord, SessionStore } from "@millrace/core/ports";
import { assert, assertEqual, assertOutcome, assertRejects } from "./case.ts";
import type { Case } from "./case.ts";
import { epochOf, prompt, run, runFinished, takenBack } from "./session-store-bodies.ts";
import { openChild } from "./session-store-children.ts";
import {
  accept,
  append,
  claim,
  claimedCase,
  newName,
  passTime,
  storeCase,
} from "./session-store-fixture.ts";
import type { SessionStoreFixture } from "./session-store-fixture.ts";
import { oddTexts } from "./session-store-samples.ts";

/** A record holds what lists and permissions need, and is changed by compare-and-set. */
export const recordCases: readonly Case<SessionStoreFixture>[] = [
  storeCase("owner and title are found as they were given", async ({ store }) => {
    for (const text of oddTexts.filter((odd) => odd !== "")) {
      const given = { sessionId: newName(), owner: text, title: text };
      const made = await store.create(given);

      assertEqual([made.owner, made.title], [text, text], "the answer");
      assertEqual(await store.find(made.sessionId), made, "what is found");
    }
  }),
  storeCase(
    "an owner or a title that can't be one is refused, and nothing created",
    async (own) => {
      const { store, uid } = own;
      const wrong = [{ owner: "" }, { owner: "x".repeat(257) }, { title: "" }, { title: "\ud800" }];
      for (const given of [...wrong, { title: "x".repeat(513) }]) {
        const name = newName();
        await assertRejects(
          () => store.create({ sessionId: name, ...given }),
          "invalid_id",
          "create",
        );
        assertEqual(await store.find(name), undefined, "what is found");
      }
      await assertRejects(() => store.update(uid, { title: "" }), "invalid_id", "update");
      assertEqual((await recordOf(own)).revision, 1, "the revision");
    },
  ),
  storeCase("a new session's times are those of the store's clock", async ({ store }) => {
    await store.head((await store.create({ sessionId: newName() })).uid); // so that the clock is known
    const before = store.now();
    const { createdAt, updatedAt } = await store.create({ sessionId: newName() });

    assertEqual(updatedAt, createdAt, "the last activity");
    assert(createdAt >= before - 2_000 && createdAt <= store.now() + 2_000, "it is about now");
  }),
  storeCase("a session is created with its first input, under its key", async ({ store }) => {
    const name = newName();
    const first = { key: "key_1", body: prompt("input_1") };

    const made = await store.create({ sessionId: name, owner: "Ann", first });

    assertEqual([made.head, made.status], [1, "running"], "head and status");
    assertEqual(await store.find(name), made, "what is found");
    const [fact] = await store.read(made.uid);
    assertEqual([fact?.type, fact?.n], ["input_accepted", 1], "its fact");
    const again = await store.accept(made.uid, "key_1", first.body);
    assertOutcome(again, "duplicate", "the same input under its key");
    const other = await store.accept(made.uid, "key_2", first.body);
    assertEqual(other, { outcome: "refused", reason: "key_reused" }, "its id under another key");
    assertEqual(
      (await store.accept(made.uid, "key_1", prompt("input_2"))).outcome,
      "refused",
      "key",
    );
  }),
  storeCase("a name in use is not created again with a first input", async (session) => {
    const { store, sessionId: name } = session;
    const first = { key: "key_1", body: prompt("input_1") };

    await assertRejects(() => store.create({ sessionId: name, first }), "session_exists", "create");

    assertEqual((await recordOf(session)).head, 0, "its head");
  }),
  storeCase("what an empty session refuses is no first input", async ({ store }) => {
    const name = newName();
    const first = { key: "key_1", body: takenBack("input_1") };

    await assertRejects(() => store.create({ sessionId: name, first }), "invalid_event", "create");

    assertEqual(await store.find(name), undefined, "what is found");
  }),
  storeCase("an update changes what it names, and raises the revision", async (session) => {
    const { store, uid } = session;
    const metadata = { a: [1, { b: "\0 ü" }] };
    const before = await recordOf(session);

    const named = await store.update(uid, { title: "A title" });
    const described = await store.update(uid, { metadata });
    const unnamed = await store.update(uid, { title: null, revision: 3 });

    assertEqual(
      named,
      { outcome: "updated", record: { ...before, title: "A title", revision: 2 } },
      "1",
    );
    assertEqual(
      described.record,
      { ...before, title: "A title", metadata, revision: 3 },
      "the second",
    );
    assertEqual(unnamed.record, { ...before, metadata, revision: 4 }, "the third");
    assertEqual(await recordOf(session), unnamed.record, "what is found");
    assertEqual(await store.read(uid), [], "its facts");
  }),
  storeCase("an update of another revision changes nothing", async (session) => {
    const { store, uid } = session;
    const first = await store.update(uid, { title: "one", revision: 1 });

    const late = await store.update(uid, { title: "two", metadata: { a: 1 }, revision: 1 });

    assertEqual(late, { outcome: "moved", record: first.record }, "the late one");
    assertEqual(await recordOf(session), first.record, "what is found");
  }),
  storeCase("of many updates of one revision one is stored", async (session) => {
    const { store, uid } = session;
    const titles = Array.from({ length: 8 }, (_, at) => `title ${at}`);

    const answers = await Promise.all(
      titles.map((title) => store.update(uid, { title, revision: 1 })),
    );

    const stored = answers.filter(({ outcome }) => outcome === "updated");
    assertEqual(stored.length, 1, "those that were stored");
    assertEqual(await recordOf(session), stored[0]?.record, "what is found");
  }),
  claimedCase("updates and facts do not disturb each other", async (session) => {
    const { store, uid } = session;
    await accept(session, "key_1", prompt("input_1"));
    await store.update(uid, { title: "one", metadata: { a: 1 } });
    await append(session, [{ type: "run_started", runId: run }]);
    await store.update(uid, { title: "two" });
    await accept(session, "key_2", prompt("input_2"));

    const { title, metadata, revision, head, status } = await recordOf(session);
    assertEqual([title, metadata, revision], ["two", { a: 1 }, 3], "what updates made");
    assertEqual([head, status], [4, "running"], "what facts made");
  }),
  storeCase("a session that does not exist can't be updated", async ({ store, uid }) => {
    await store.remove(uid);

    await assertRejects(() => store.update(uid, { title: "late" }), "unknown_session", "update");
  }),
  claimedCase(
    "a fork has its source's owner, title and metadata, or its own",
    async ({ store }) => {
      const given = { owner: "Ann", title: "One", metadata: { a: 1 } };
      const { uid } = await store.create({ sessionId: newName(), ...given });
      const source = await openChild(store, uid, 1);
      await store.update(source.uid, { title: "Two", metadata: { a: 2 } });

      const same = await store.fork(source.uid, { sessionId: newName(), n: 0 });
      const other = await store.fork(source.uid, {
        sessionId: newName(),
        n: 0,
        owner: "Bob",
        title: "X",
      });

      assertEqual(
        [same.owner, same.title, same.metadata],
        ["Ann", "Two", { a: 2 }],
        "the source's",
      );
      assertEqual([other.owner, other.title, other.metadata], ["Bob", "X", { a: 2 }], "its own");
      assertEqual([same.parent, same.revision], [undefined, 1], "parent and revision");
      assertEqual(await store.find(other.sessionId), other, "what is found");
      assert(same.createdAt >= source.createdAt, "it is not older than its source");
      assertEqual(same.updatedAt, same.createdAt, "its last activity");
    },
  ),
  storeCase("a tombstone names the owner", async ({ store }) => {
    const owner = "Ann \0 ü";
    const { uid, sessionId: name } = await store.create({ sessionId: newName(), owner });

    const [left] = await store.remove(uid);

    assertEqual(left?.owner, owner, "what the removal returns");
    assertEqual(await store.tombstone(name), left, "what the name finds");
  }),
  claimedCase(
    "people and changes of status are activities, other facts are not",
    async (session) => {
      const { store } = session;
      const active = async (): Promise<number> => (await recordOf(session)).updatedAt;
      const times = [await active()];
      const wait = async (): Promise<void> => {
        await passTime(store, (times.at(-1) ?? 0) + 5);
      };
      await wait();
      await accept(session, "key_1", prompt("input_1"));
      times.push(await active());
      await wait();
      await append(session, [{ type: "run_started", runId: run }]);
      await claim(session, 1);
      await session.store.update(session.uid, { title: "no activity" });
      assertEqual(await active(), times[1], "after the driver's facts and an update");
      await append(
        session,
        [{ type: "run_finished", runId: run, outcome: "aborted", closes: epochOf(1) }],
        2,
      );
      assertEqual(await active(), times[1], "while an input waits");
      await append(session, [{ type: "run_started", runId: run }], 2);
      await accept(session, "key_2", takenBack("input_1"));
      times.push(await active());
      await wait();
      await append(session, [runFinished(epochOf(2))], 2);
      times.push(await active());

      assertEqual(
        times,
        times.toSorted((left, right) => left - right),
        "the times",
      );
      assertEqual(new Set(times).size, 4, "different times");
      const facts = await store.read(session.uid);
      assertEqual(
        times.slice(1).map((time) => facts.some((fact) => fact.time === time)),
        [true, true, true],
        "of facts",
      );
    },
  ),
];

/** The session's record as it is found. */
async function recordOf(session: {
  readonly store: SessionStore;
  readonly sessionId: string;
}): Promise<SessionRecord> {
  const found = await session.store.find(session.sessionId);
  assert(found !== undefined, "the session is found");
  return found;
}

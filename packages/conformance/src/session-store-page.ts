import type { CreateOptions, PageQuery, SessionRecord, SessionStore } from "@millrace/core/ports";
import { assert, assertEqual, assertRejects } from "./case.ts";
import type { Case } from "./case.ts";
import { asked, epochOf, prompt, run, runFinished } from "./session-store-bodies.ts";
import { openChild } from "./session-store-children.ts";
import { newName, passTime, storeCase } from "./session-store-fixture.ts";
import type { SessionStoreFixture } from "./session-store-fixture.ts";

/** Pages of records: newest activity first. Each case has an owner of its own. */
export const pageCases: readonly Case<SessionStoreFixture>[] = [
  storeCase("the newest activity comes first", async ({ store }) => {
    const owner = newOwner();
    const made = await createMany(store, owner, 3);
    await act(store, made[0]);

    const { records, next } = await store.page({ owner });

    assertEqual(idsOf(records), idsOf([made[0], made[2], made[1]]), "the sessions");
    assertEqual(next, undefined, "where the next page begins");
    assertEqual(records[0], await store.find(made[0]?.sessionId ?? ""), "a record");
  }),
  storeCase("pages hold each session once, without an end mark on the last", async ({ store }) => {
    const owner = newOwner();
    const made = await createMany(store, owner, 7);

    for (const limit of [1, 2, 3, 6, 7, 8]) {
      const pages = await allPages(store, { owner, limit });
      assertEqual(pages.length, Math.ceil(7 / limit), `the pages of ${limit}`);
      assertEqual(idsOf(pages.flat()), idsOf(made.toReversed()), `the sessions by ${limit}`);
    }
  }),
  storeCase("without a limit a page has 50", async ({ store }) => {
    const owner = newOwner();
    for (let at = 0; at < 51; at += 1) await store.create({ sessionId: newName(), owner });

    const { records, next } = await store.page({ owner });

    assertEqual(records.length, 50, "the sessions");
    assertEqual((await store.page({ owner, after: next })).records.length, 1, "the rest");
  }),
  storeCase("sessions of the same time are on one page each", async ({ store }) => {
    const owner = newOwner();
    const names = Array.from({ length: 20 }, newName);
    await Promise.all(names.map((name) => store.create({ sessionId: name, owner })));

    const found = idsOf((await allPages(store, { owner, limit: 3 })).flat());

    assertEqual(found.toSorted(), names.toSorted(), "the sessions");
  }),
  storeCase("what changes meanwhile moves to the front, and the others stay", async ({ store }) => {
    const owner = newOwner();
    const made = await createMany(store, owner, 6);
    const { records: first, next } = await store.page({ owner, limit: 2 });
    await act(store, made[1]); // not listed yet
    await act(store, made[5]); // listed already
    const added = await createMany(store, owner, 1);
    if (made[2] !== undefined) await store.remove(made[2].uid);

    const rest = await allPages(store, { owner, limit: 2, after: next });

    assertEqual(idsOf(first), idsOf([made[5], made[4]]), "the first page");
    assertEqual(idsOf(rest.flat()), idsOf([made[3], made[0]]), "the rest");
    const again = (await store.page({ owner })).records;
    assertEqual(
      idsOf(again),
      idsOf([added[0], made[5], made[1], made[4], made[3], made[0]]),
      "anew",
    );
  }),
  storeCase("an update moves nothing", async ({ store }) => {
    const owner = newOwner();
    const made = await createMany(store, owner, 2);
    if (made[0] !== undefined) await store.update(made[0].uid, { title: "renamed" });

    const { records } = await store.page({ owner });

    assertEqual(idsOf(records), idsOf([made[1], made[0]]), "the sessions");
    assertEqual(records[1]?.title, "renamed", "its title");
  }),
  storeCase("a page has only sessions of its owner", async ({ store }) => {
    const [ann, bob] = [newOwner(), newOwner()];
    const [own] = await createMany(store, ann, 1);
    await createMany(store, bob, 1);

    assertEqual(idsOf((await store.page({ owner: ann })).records), idsOf([own]), "the sessions");
    assertEqual((await store.page({ owner: newOwner() })).records, [], "of nobody");
    const all = idsOf((await allPages(store, { limit: 200 })).flat());
    assert(
      idsOf([own]).every((id) => all.includes(id)),
      "it is among those of all owners",
    );
  }),
  storeCase("sub-agents' sessions are listed by their parent alone", async ({ store }) => {
    const owner = newOwner();
    const [parent] = await createMany(store, owner, 1);
    assert(parent !== undefined, "it is created");
    const children: SessionRecord[] = [];
    for (let call = 1; call < 3; call += 1) {
      const child = await openChild(store, parent.uid, call);
      await passTime(store, child.updatedAt);
      children.push(child);
    }

    assertEqual(idsOf((await store.page({ owner })).records), idsOf([parent]), "of the owner");
    const query = { parent: parent.sessionId };
    const { records } = await store.page(query);
    assertEqual(idsOf(records), idsOf(children.toReversed()), "of the parent");
    const pages = await allPages(store, { ...query, owner, limit: 1 });
    assertEqual(idsOf(pages.flat()), idsOf(children.toReversed()), "of both");
    assertEqual((await store.page({ parent: newName() })).records, [], "of another");
  }),
  storeCase("a page has only sessions of its status", async ({ store }) => {
    const owner = newOwner();
    const made = await createMany(store, owner, 4);
    const [idle, ended, running, paused] = made;
    for (const session of [ended, running, paused]) await act(store, session);
    await begin(store, ended, [runFinished(epochOf(1))]);
    await begin(store, paused, [asked("a")]);

    const of = async (status: PageQuery["status"]): Promise<readonly string[]> =>
      idsOf((await allPages(store, { owner, status, limit: 1 })).flat());
    assertEqual(await of("paused"), idsOf([paused]), "those that are paused");
    assertEqual((await of("running")).toSorted(), idsOf([running, ended]).toSorted(), "that run");
    assertEqual(await of("idle"), idsOf([idle]), "those that are idle");
  }),
  storeCase("a title is found by a part of it, in small or capital letters", async ({ store }) => {
    const owner = newOwner();
    const titles = ["Ärger mit Rechnung 100%_A", "holiday PLANS", "\0 plain", "👩‍👧 Plan", "x"];
    for (const title of titles) await createOne(store, { sessionId: newName(), owner, title });
    await createOne(store, { sessionId: newName(), owner });

    const of = async (title: string): Promise<readonly (string | undefined)[]> =>
      (await store.page({ owner, title })).records.map((record) => record.title);
    assertEqual(await of("ÄRGER"), [titles[0]], "a letter with dots");
    assertEqual(await of("pLA"), [titles[3], titles[2], titles[1]], "a part");
    assertEqual(await of("100%_a"), [titles[0]], "signs that patterns know");
    assertEqual(await of("%"), [titles[0]], "a sign alone");
    assertEqual(await of("\0"), [titles[2]], "U+0000");
    assertEqual(await of("nothing"), [], "what is nowhere");
  }),
  storeCase("an end mark that no page has given is refused", async ({ store }) => {
    for (const after of ["", "x", ".", "zzzzzzzzzzzzzzzz.a", "1.a b", "1.a\0", "-1.a", "1.5.a"]) {
      await assertRejects(() => store.page({ after }), "invalid_id", JSON.stringify(after));
    }
  }),
];

function newOwner(): string {
  return `owner ${crypto.randomUUID()}`;
}

/** Sessions of an owner, each of a later time than the one before. */
async function createMany(
  store: SessionStore,
  owner: string,
  count: number,
): Promise<readonly SessionRecord[]> {
  const made: SessionRecord[] = [];
  for (let at = 0; at < count; at += 1) {
    made.push(await createOne(store, { sessionId: newName(), owner }));
  }
  return made;
}

async function createOne(store: SessionStore, options: CreateOptions): Promise<SessionRecord> {
  const made = await store.create(options);
  await passTime(store, made.updatedAt);
  return made;
}

/** An activity: an input. */
async function act(store: SessionStore, session: SessionRecord | undefined): Promise<void> {
  assert(session !== undefined, "it was created");
  await store.accept(session.uid, `key ${crypto.randomUUID()}`, prompt(crypto.randomUUID()));
  const { updatedAt = 0 } = (await store.find(session.sessionId)) ?? {};
  await passTime(store, updatedAt);
}

/** Begins a run, with these facts after it. */
async function begin(
  store: SessionStore,
  session: SessionRecord | undefined,
  bodies: readonly Parameters<SessionStore["append"]>[1]["bodies"][number][],
): Promise<void> {
  assert(session !== undefined, "it was created");
  const { uid } = session;
  await store.claim(uid, { from: 0 });
  const head = await store.head(uid);
  const started = { type: "run_started", runId: run } as const;
  await store.append(uid, { incarnation: 1, head, bodies: [started, ...bodies] });
}

async function allPages(
  store: SessionStore,
  query: PageQuery,
): Promise<readonly (readonly SessionRecord[])[]> {
  const pages: (readonly SessionRecord[])[] = [];
  for (let after = query.after; ;) {
    const { records, next } = await store.page({ ...query, after });
    pages.push(records);
    if (next === undefined) return pages;
    after = next;
  }
}

function idsOf(records: readonly (SessionRecord | undefined)[]): readonly string[] {
  return records.map((record) => String(record?.sessionId));
}

import type { SessionRecord, SessionStore } from "@millrace/core/ports";
import { childSessionId } from "@millrace/core/store-kit";
import type { SessionUid } from "@millrace/core";
import { assert, assertEqual, assertOutcome, assertRejects } from "./case.ts";
import type { Case } from "./case.ts";
import { epochOf, intentOf } from "./session-store-bodies.ts";
import { claim, newName, storeCase } from "./session-store-fixture.ts";
import type { SessionStoreFixture } from "./session-store-fixture.ts";

/** The session of a sub-agent is made with the intent of its call, and in no other way. */
export const childCases: readonly Case<SessionStoreFixture>[] = [
  storeCase("an intent makes the session of its sub-agent, as its parent's", async ({ store }) => {
    const given = { owner: "Ann \0 ü", title: "One", metadata: { a: [1, "\0"] } };
    const parent = await store.create({ sessionId: newName(), ...given });
    await store.update(parent.uid, { metadata: { b: 2 } });

    const child = await openChild(store, parent.uid, 1);

    const { callId } = intentOf(1, epochOf(1));
    const { uid, sessionId } = parent;
    assertEqual(child.parent, { uid, sessionId, callId }, "its parent");
    assertEqual([child.owner, child.metadata], [given.owner, { b: 2 }], "what it has of it");
    assertEqual([child.title, child.head, child.status], [undefined, 0, "idle"], "its own");
    assert(child.uid !== uid && child.createdAt >= parent.createdAt, "it is a session of its own");
    const named = (await store.read(uid)).map((fact) =>
      fact.type === "tool_execution_started" ? fact.childSessionId : undefined,
    );
    assert(named.includes(child.sessionId), "the fact names it");
    assert((await store.key(child.uid)) !== (await store.key(uid)), "it has a key of its own");
  }),
  storeCase("an intent that is stored again goes on with the same session", async (session) => {
    const { store, uid } = session;
    const first = await openChild(store, uid, 1);
    await claim(session, 1);

    const again = await openChild(store, uid, 1);

    assertEqual([again.uid, again.parent], [first.uid, first.parent], "the session");
    assertEqual((await store.read(uid)).length, 4, "the parent's facts");
  }),
  storeCase("an intent that is refused makes no session", async (session) => {
    const { store, uid } = session;
    await claim(session, 0);
    await claim(session, 1); // another driver has the session
    const request = openingOf(uid, 1, 1);

    assertOutcome(await store.open(uid, request), "fenced", "the opening");

    assertEqual(await store.find(request.intent.childSessionId), undefined, "what is found");
  }),
  storeCase("nothing else makes a session of such a name", async ({ store, uid }) => {
    const names = [childSessionId(`${uid}_item_1`), childSessionId("never_item_key_2_1")];
    for (const sessionId of names) {
      await assertRejects(() => store.create({ sessionId }), "invalid_id", "create");
      await assertRejects(() => store.fork(uid, { sessionId, n: 0 }), "invalid_id", "fork");
      assertEqual(await store.find(sessionId), undefined, "what is found");
    }
    await openChild(store, uid, 1);
    const made = names[0] ?? "";
    await assertRejects(() => store.create({ sessionId: made }), "invalid_id", "once it is there");
  }),
  storeCase("an intent can't name the child of another session", async (session) => {
    const { store, uid } = session;
    await claim(session, 0);
    const other = await store.create({ sessionId: newName() });
    const { intent, ...opening } = openingOf(uid, 1, 1);
    for (const childSessionId of [openingOf(other.uid, 1, 1).intent.childSessionId, newName()]) {
      const request = { ...opening, intent: { ...intent, childSessionId } };
      await assertRejects(() => store.open(uid, request), "invalid_event", "open");
      assertEqual(await store.find(childSessionId), undefined, "what is found");
    }
    assertEqual(await store.head(uid), 1, "the head");
  }),
  storeCase("no sub-agent begins under a removed session", async (session) => {
    const { store, uid } = session;
    await claim(session, 0);
    await store.remove(uid);

    const request = openingOf(uid, 1, 1);
    await assertRejects(() => store.open(uid, request), "unknown_session", "open");
    assertEqual(await store.find(request.intent.childSessionId), undefined, "what is found");
  }),
];

function openingOf(uid: SessionUid, call: number, incarnation: number) {
  const epoch = epochOf(call, 1, incarnation);
  const intent = {
    ...intentOf(call, epoch),
    childSessionId: childSessionId(`${uid}_item_${call}`),
  };
  return { lane: call, epoch, itemId: intent.itemId, intent };
}

/** Makes the session of a sub-agent, as the call of a tool does. Claims the parent if nobody has. */
export async function openChild(
  store: SessionStore,
  uid: SessionUid,
  call: number,
): Promise<SessionRecord> {
  const { incarnation } = await store.claim(uid, { from: 0 });
  const request = openingOf(uid, call, incarnation);
  assertOutcome(await store.open(uid, request), "opened", `the opening of call ${call}`);
  const child = await store.find(request.intent.childSessionId);
  assert(child !== undefined, "the session of the sub-agent is there");
  return child;
}

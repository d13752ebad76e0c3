import { itemId, sessionId } from "@millrace/core/writing";
import type { Fact, SessionId, SessionUid } from "@millrace/core";
import type { Epoch, PeopleFact, SessionStore } from "@millrace/core/ports";
import type { FactBody } from "@millrace/core/writing";
import { assert, assertEqual, assertOutcome } from "./case.ts";
import type { Case } from "./case.ts";

/** What a SessionStore must provide for the cases. */
export interface SessionStoreFixture {
  readonly open: () => Promise<OpenedSessionStore>;
}

/** A store under test. Disposed of when its case is over. */
export interface OpenedSessionStore extends AsyncDisposable {
  readonly store: SessionStore;
}

/** A session for each case, because real engines keep the data of earlier ones. */
export interface StoreSession {
  readonly store: SessionStore;
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
}

export function storeCase(
  name: string,
  run: (session: StoreSession) => Promise<void>,
): Case<SessionStoreFixture> {
  return {
    name,
    run: async (fixture) => {
      await using opened = await fixture.open();
      const { store } = opened;
      const { uid, sessionId } = await store.create({ sessionId: newName() });
      await run({ store, uid, sessionId });
    },
  };
}

/** As `storeCase`, in a session that its first driver has claimed. */
export function claimedCase(
  name: string,
  run: (session: StoreSession) => Promise<void>,
): Case<SessionStoreFixture> {
  return storeCase(name, async (session) => {
    await claim(session, 0);
    await run(session);
  });
}

export function newName(): SessionId {
  return sessionId(`conformance_${crypto.randomUUID()}`);
}

/** Claims the session from an incarnation. Must succeed. */
export async function claim(
  { store, uid }: StoreSession,
  from: number,
  to?: number,
): Promise<Fact> {
  const answer = await store.claim(uid, to === undefined ? { from } : { from, to });
  const { facts } = assertOutcome(answer, "claimed", `the claim from ${from}`);
  return facts[0] as Fact;
}

/** Appends the driver's facts at the current head. Must succeed. */
export async function append(
  { store, uid }: StoreSession,
  bodies: readonly FactBody[],
  incarnation = 1,
): Promise<readonly Fact[]> {
  const head = await store.head(uid);
  const answer = await store.append(uid, { incarnation, head, bodies });
  return assertOutcome(answer, "appended", "the driver's append").facts;
}

/** Opens a lane. Must succeed. */
export async function open(
  { store, uid }: StoreSession,
  lane: number,
  epoch: Epoch,
  id = `item_${lane}`,
): Promise<void> {
  const answer = await store.open(uid, { lane, epoch, itemId: itemId(id) });
  assertOutcome(answer, "opened", `the opening of lane ${lane} by ${epoch}`);
}

/** Accepts an input. Must succeed. */
export async function accept(
  { store, uid }: StoreSession,
  key: string,
  body: PeopleFact,
): Promise<Fact> {
  const answer = await store.accept(uid, key, body);
  return assertOutcome(answer, "accepted", `the input under ${key}`).facts[0] as Fact;
}

/** Waits until the store's clock is past a time, so that the next activity is later. Fails if it stands still. */
export async function passTime(store: SessionStore, time: number): Promise<void> {
  const begin = performance.now();
  while (store.now() <= time) {
    assert(performance.now() < begin + 10_000, "the store's clock stands still");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Asserts that facts are numbered 1, 2, 3 … up to the head. */
export async function assertDense({ store, uid }: StoreSession): Promise<readonly Fact[]> {
  const facts = await store.read(uid);
  assertEqual(
    facts.map(({ n }) => n),
    facts.map((_, at) => at + 1),
    "the numbers of the facts",
  );
  assertEqual(await store.head(uid), facts.length, "the head");
  return facts;
}

/** Asserts that the call stored nothing. */
export async function assertUnchanged(
  session: StoreSession,
  before: readonly Fact[],
  what: string,
): Promise<void> {
  assertEqual(await session.store.read(session.uid), before, `the facts after ${what}`);
}

import type { Fact, SessionUid } from "@millrace/core";
import type { ClaimRequest, SessionStore } from "@millrace/core/ports";
import type { FactBody } from "@millrace/core/writing";
import { withoutSecrets } from "./clean-facts.ts";
import type { StoreOutage } from "./store-outage.ts";

/**
 * A store whose calls wait out its outages. Reads are repeated as they are. A write may have been stored
 * with only its answer lost, so its repeat is refused by what the first try stored. Such a refusal is
 * checked against the store:
 *
 * - `accept` has a key: its repeat answers `duplicate`, with the fact.
 * - `append` finds the head moved. If the facts after its head are its own, they are its answer.
 * - `open` finds its own epoch as the lane's floor. No other attempt has that epoch.
 * - `commit` finds its item, or the lane closed. A fact with its lane and epoch is its own.
 * - `claim` finds the incarnation counted up. The store knows the claim of an engine by its run. Where it
 *   has an index of drivers, the index names the driver of that claim. Elsewhere the claim counts as
 *   lost, and the driver claims again.
 *
 * Anything else is answered as it is: the head was moved, or the lane taken, by another writer.
 * What is appended or committed has no secrets but in its content, see `clean-facts.ts`.
 * `localHead` is the number of the last fact that this process has: facts of a lost answer come after it.
 */
export function retryingStore(
  store: SessionStore,
  outage: StoreOutage,
  localHead: () => number,
): SessionStore {
  // The rest is not repeated: an open session makes those calls never, or where failures are expected.
  return { ...store, ...retryingReads(store, outage), ...retryingWrites(store, outage, localHead) };
}

type Reads = Pick<
  SessionStore,
  "find" | "key" | "read" | "head" | "floors" | "claimedBy" | "checkpoint"
>;

function retryingReads(store: SessionStore, outage: StoreOutage): Reads {
  const { checkpoint } = store;
  return {
    find: (id) => outage.retry(() => store.find(id)),
    key: (uid) => outage.retry(() => store.key(uid)),
    read: (uid, options) => outage.retry(() => store.read(uid, options)),
    head: (uid) => outage.retry(() => store.head(uid)),
    floors: (uid) => outage.retry(() => store.floors(uid)),
    claimedBy: (uid, by) => outage.retry(() => store.claimedBy(uid, by)),
    ...(checkpoint === undefined
      ? {}
      : { checkpoint: (uid) => outage.retry(() => checkpoint(uid)) }),
  };
}

function retryingWrites(
  store: SessionStore,
  outage: StoreOutage,
  localHead: () => number,
): Pick<SessionStore, "accept" | "claim" | "open" | "commit" | "append"> {
  return {
    accept: (uid, key, body) => outage.retry(() => store.accept(uid, key, body)),
    append: (uid, given) => {
      const request = { ...given, bodies: given.bodies.map(withoutSecrets) };
      return outage.retry(async (again) => {
        const answer = await store.append(uid, request);
        if (!again || answer.outcome !== "moved") return answer;
        const { head: after, bodies } = request;
        const facts = await store.read(uid, { after, limit: bodies.length });
        const own = bodies.every((body, at) => isFactOf(facts[at], body));
        return own ? { outcome: "appended", facts } : answer;
      });
    },
    open: (uid, request) => {
      const since = localHead();
      return outage.retry(async (again) => {
        const answer = await store.open(uid, request);
        if (!again || answer.outcome !== "fenced") return answer;
        const { lane, epoch } = request;
        const floors = await store.floors(uid);
        if (!floors.some((floor) => floor.lane === lane && floor.epoch === epoch)) return answer;
        const facts = await store.read(uid, { after: since });
        const intent = facts.filter(
          (fact) => fact.type === "tool_execution_started" && isOfLane(fact, request),
        );
        return { outcome: "opened", head: facts.at(-1)?.n ?? since, facts: intent };
      });
    },
    commit: (uid, given) => {
      const { ahead: decided } = given;
      const request =
        decided === undefined
          ? given
          : { ...given, ahead: { ...decided, bodies: decided.bodies.map(withoutSecrets) } };
      const since = localHead();
      return outage.retry(async (again) => {
        const answer = await store.commit(uid, request);
        if (!again || answer.outcome === "committed") return answer;
        const { fact: body, settlement = [], ahead } = request;
        const facts = await store.read(uid, { after: since });
        const at = facts.findIndex(
          (fact) =>
            fact.type === body.type && fact.item.id === body.item.id && isOfLane(fact, body),
        );
        if (at < 0) return answer;
        const stored = 1 + settlement.length + (ahead?.bodies.length ?? 0);
        return { outcome: "committed", facts: facts.slice(at, at + stored) };
      });
    },
    claim: (uid, request) => {
      const since = localHead();
      return outage.retry(async (again) => {
        const answer = await store.claim(uid, request);
        const incarnation = request.from + 1;
        if (!again || answer.outcome !== "moved" || answer.incarnation !== incarnation)
          return answer;
        if (!(await isOwnClaim(store, uid, request))) return answer;
        const facts = await store.read(uid, { after: since });
        const own = facts.filter(
          (fact) => fact.type === "session_claimed" && fact.incarnation === incarnation,
        );
        return { outcome: "claimed", incarnation, facts: own };
      });
    },
  };
}

/** Whether the claim that counted the incarnation up is the one that was requested. */
async function isOwnClaim(
  { drivers, claimedBy }: SessionStore,
  uid: SessionUid,
  { from, driver, by }: ClaimRequest,
): Promise<boolean> {
  if (by !== undefined) return (await claimedBy(uid, by)) === from + 1;
  return driver !== undefined && (await drivers?.find(uid))?.driver === driver;
}

interface LaneEpoch {
  readonly lane?: number | undefined;
  readonly epoch?: number | undefined;
}

function isOfLane(fact: LaneEpoch, { lane, epoch }: LaneEpoch): boolean {
  return fact.lane === lane && fact.epoch === epoch;
}

/** True if the fact was made of the body. The store adds fields of its own, and drops undefined ones. */
function isFactOf(fact: Fact | undefined, body: FactBody): boolean {
  const { v: _, n: __, sessionId: ___, time: ____, ...stored } = fact ?? { v: 0 };
  return isSame(stored, body);
}

/** Equality of plain data. A field that is undefined counts as absent, as in JSON. */
function isSame(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== "object" || typeof right !== "object") return left === right;
  if (left === null || right === null || Array.isArray(left) !== Array.isArray(right)) return false;
  const a = new Map(Object.entries(left).filter(([, value]) => value !== undefined));
  const b = new Map(Object.entries(right).filter(([, value]) => value !== undefined));
  return a.size === b.size && [...a].every(([key, value]) => isSame(value, b.get(key)));
}

import {
  apply,
  closedEpoch,
  emptyState,
  equalJson,
  replay,
  standing,
  unpackEpoch,
} from "@millrace/core";
import type {
  AcceptOutcome,
  ClaimOutcome,
  ClaimRequest,
  CommitOutcome,
  CommitRequest,
  DriverOutcome,
  DriverRequest,
  Fact,
  FactBody,
  Floor,
  Item,
  ItemId,
  Json,
  OpenOutcome,
  OpenRequest,
  PeopleFact,
  SessionState,
} from "@millrace/core";
import type { OpenFloor, SessionRow } from "./row.ts";

/** What a call needs to know beside the session's row. */
export interface Looks {
  /** The item of this id. */
  readonly itemId?: ItemId;
  /** What was said under this key. */
  readonly key?: string;
  /** The facts by which a person's call is decided. */
  readonly about?: PeopleFact;
  /** All facts, to see which a reset leaves standing. */
  readonly all?: boolean;
}

/** What was found of it. */
export interface Seen {
  readonly item?: Item | undefined;
  readonly keyed?: Fact | undefined;
  readonly about: readonly Fact[];
  readonly all: readonly Fact[];
}

/** What a store finds that looks for nothing. */
export const nothingSeen: Seen = { about: [], all: [] };

/**
 * One of the port's calls that write, by the rules of `SessionLedger`. It stores all that it has, or
 * nothing.
 */
export interface Call<Answer> {
  readonly looks: Looks;
  readonly bodies: readonly FactBody[];
  readonly floor?: Floor;
  /** The answer if nothing may be stored. Pure. */
  readonly refuse: (row: SessionRow, seen: Seen) => Answer | undefined;
  /** The answer when all was stored. */
  readonly answer: (facts: readonly Fact[], head: number) => Answer;
}

/** The call by which a driver takes the session. */
export function claimCall({ from, to }: ClaimRequest): Call<ClaimOutcome> {
  const incarnation = from + 1;
  const reset = to === undefined ? {} : { to };
  return {
    looks: { all: to !== undefined },
    bodies: [{ type: "session_claimed", incarnation, ...reset }],
    refuse: (row) =>
      row.incarnation === from ? undefined : { outcome: "moved", incarnation: row.incarnation },
    answer: (facts) => ({ outcome: "claimed", incarnation, facts }),
  };
}

/** The call by which a person says something. */
export function acceptCall(key: string, body: PeopleFact): Call<AcceptOutcome> {
  return {
    looks: { key, about: body },
    bodies: [body],
    refuse: (row, { keyed, about }) => {
      if (keyed !== undefined) {
        return says(keyed, body)
          ? { outcome: "duplicate", fact: keyed }
          : { outcome: "refused", reason: "key_reused" };
      }
      const reason = refusalOf(row, body, about);
      return reason === undefined ? undefined : { outcome: "refused", reason };
    },
    answer: (facts) => ({ outcome: "accepted", facts }),
  };
}

/** The call by which an attempt takes its lane. */
export function openCall({ lane, epoch, itemId, intent }: OpenRequest): Call<OpenOutcome> {
  return {
    looks: { itemId },
    bodies: intent === undefined ? [] : [intent],
    floor: { lane, epoch },
    refuse: (row, { item }) => {
      if (item !== undefined) return { outcome: "exists", item };
      // A floor at or below what is closed is no longer in the row, and is not needed there.
      const raises = epoch > (floorOf(row, lane)?.epoch ?? 0);
      return raises && holds(row, lane, epoch) ? undefined : { outcome: "fenced" };
    },
    answer: (facts, head) => ({ outcome: "opened", head, facts }),
  };
}

/** The call by which a lane's holder stores its item. */
export function commitCall({ fact, settlement = [] }: CommitRequest): Call<CommitOutcome> {
  return {
    looks: fact.type === "item_committed" ? { itemId: fact.item.id } : {},
    bodies: [fact, ...settlement],
    refuse: (row, { item }) => {
      if (item !== undefined) return { outcome: "exists", item };
      const isFloor = floorOf(row, fact.lane)?.epoch === fact.epoch;
      return isFloor && holds(row, fact.lane, fact.epoch) ? undefined : { outcome: "fenced" };
    },
    answer: (facts) => ({ outcome: "committed", facts }),
  };
}

/** The call by which the driver stores what it decided. */
export function appendCall({ incarnation, head, bodies }: DriverRequest): Call<DriverOutcome> {
  return {
    looks: { all: bodies.some(isReset) },
    bodies,
    refuse: (row) => {
      if (row.incarnation !== incarnation) return { outcome: "fenced" };
      return row.head === head ? undefined : { outcome: "moved", head: row.head };
    },
    answer: (facts) => ({ outcome: "appended", facts }),
  };
}

/** What the rules keep of a session, after some facts. */
export type Progress = Pick<SessionRow, "incarnation" | "closed" | "closedLanes" | "floors">;

/**
 * The row after these facts and this floor. What facts close is read from their state, which is the
 * readers' own fold; after a reset that is made anew from `all` the facts before.
 */
export function advance(
  row: SessionRow,
  facts: readonly Fact[],
  { all, floor }: { readonly all: readonly Fact[]; readonly floor?: OpenFloor | undefined },
): Progress {
  const empty = emptyState(row.uid, row.sessionId);
  const { head, incarnation, closed, closedLanes } = row;
  let state: SessionState = { ...empty, head, incarnation, closed, closedLanes };
  if (facts.some(isReset)) state = replay(empty, [...all, ...facts]);
  else for (const fact of facts) state = apply(state, fact).state;
  const raised = floor === undefined ? [] : [floor];
  const others = row.floors.filter((other) => other.lane !== floor?.lane);
  const floors = [...others, ...raised]
    .filter(({ lane, epoch }) => epoch > closedEpoch(state, lane))
    .toSorted((left, right) => left.lane - right.lane);
  return {
    incarnation: state.incarnation,
    closed: state.closed,
    closedLanes: state.closedLanes,
    floors,
  };
}

/** Which fact holds which item, of facts of which some may have been undone. */
export function itemsOf(facts: readonly Fact[]): ReadonlyMap<ItemId, number> {
  const places = new Map<ItemId, number>();
  for (const fact of standing(facts)) {
    if (fact.type === "item_committed" || fact.type === "item_replaced") {
      places.set(fact.item.id, fact.n);
    }
  }
  return places;
}

/** True for a claim after an operator's reset, which undoes facts. */
export function isReset(body: FactBody): boolean {
  return body.type === "session_claimed" && body.to !== undefined;
}

function floorOf(row: SessionRow, lane: number): OpenFloor | undefined {
  return row.floors.find((floor) => floor.lane === lane);
}

/** True while the epoch is of the session's driver and nothing has closed it. */
function holds(row: SessionRow, lane: number, epoch: number): boolean {
  return unpackEpoch(epoch).incarnation === row.incarnation && epoch > closedEpoch(row, lane);
}

/** Why a person's call comes to nothing, by the facts that it is about and those that undo them. */
function refusalOf(
  { uid, sessionId }: SessionRow,
  body: PeopleFact,
  about: readonly Fact[],
): "key_reused" | "settled" | "unknown" | undefined {
  const accepted = about.some(({ type }) => type === "input_accepted");
  if (body.type === "input_accepted") return accepted ? "key_reused" : undefined;
  const { queue, approvals } = replay(emptyState(uid, sessionId), about);
  if (body.type === "queue_updated") {
    if (queue.some((queued) => queued.inputId === body.inputId)) return undefined;
    return accepted ? "settled" : "unknown";
  }
  const approval = approvals.find(({ asked }) => asked.approvalId === body.approvalId);
  if (approval === undefined) return "unknown";
  return approval.answer === undefined ? undefined : "settled";
}

function says(fact: Fact, body: PeopleFact): boolean {
  const { v: _, n: __, sessionId: ___, time: ____, ...said } = fact;
  // Both are what the codec writes: JSON, and bytes, which are compared as such.
  // The actor is left out: a repeat from another account or device is still a repeat.
  return equalJson(
    { ...said, actor: null } as unknown as Json,
    { ...body, actor: null } as unknown as Json,
  );
}

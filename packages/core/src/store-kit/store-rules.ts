import type { Item } from "../content/item.ts";
import { isClosing, nextGeneration, unpackEpoch } from "../event/epoch.ts";
import type { Epoch } from "../event/epoch.ts";
import type { Fact, FactBody } from "../event/event.ts";
import { replay } from "../event/reduce.ts";
import { closedEpoch, emptyState } from "../event/state.ts";
import type { SessionState } from "../event/state.ts";
import { MillraceError } from "../errors.ts";
import { engineRun } from "../ids.ts";
import type { CallId, ItemId, SessionId, SessionUid } from "../ids.ts";
import { equalJson } from "../json.ts";
import type { Json } from "../json.ts";
import type { PeopleFact } from "../ports/session-record.ts";
import type {
  AcceptOutcome,
  ClaimOutcome,
  ClaimRequest,
  CommitOutcome,
  CommitRequest,
  DriverOutcome,
  DriverRequest,
  Floor,
  OpenOutcome,
  OpenRequest,
} from "../ports/session-store.ts";
import { parentOf } from "./child.ts";
import { isReset } from "./store-row.ts";
import type { StoreRow } from "./store-row.ts";

/** What a call's decision needs besides the session's row. */
export interface Lookup {
  /** The item of this id. */
  readonly itemId?: ItemId;
  /** The fact stored under this key. If the call stores anything, its first fact is kept under it. */
  readonly key?: string | undefined;
  /** The subject of a person's call: an input or a question. */
  readonly about?: PeopleFact;
  /** The incarnation that this run of an engine has claimed. If the call claims, its own is kept for it. */
  readonly by?: string | undefined;
  /** All facts: a reset rebuilds the row from those that it does not undo. */
  readonly all?: boolean;
}

/** What a store found for a lookup. Fields without a lookup are as in `nothingFound`. */
export interface Found {
  readonly item?: Item | undefined;
  /** The fact under the key. */
  readonly keyed?: Fact | undefined;
  /** The incarnation that the engine's run has claimed. */
  readonly claimed?: number | undefined;
  readonly about: Subject;
  /** In their order. */
  readonly all: readonly Fact[];
}

/**
 * What is known of the input or the question that a person's call is about. A store that keeps the
 * session's state gives its lists; another one makes them from few facts, by `subjectOf`. They
 * may hold other inputs and questions too.
 */
export interface Subject extends Pick<SessionState, "queue" | "approvals"> {
  /** An input of this id was accepted, whatever became of it since. */
  readonly accepted: boolean;
}

/** What a store finds where nothing is stored. */
export const nothingFound: Found = {
  about: { accepted: false, queue: [], approvals: [] },
  all: [],
};

/**
 * One of the port's calls that write, as a value. Every store looks up, calls `refuse`, stores and
 * answers, each in its own way, and in one transaction. A call stores all of its facts, or none.
 */
export interface StoreCall<Answer> {
  readonly lookup: Lookup;
  /** The facts that it stores, in this order. */
  readonly bodies: readonly FactBody[];
  /** The floor that it raises. */
  readonly floor?: Floor;
  /** The name of the driver that claims. */
  readonly driver?: string | undefined;
  /** The session that it makes in the same transaction, unless there is one of this name. */
  readonly child?: ChildSession | undefined;
  /** The answer if nothing may be stored. Pure. */
  readonly refuse: (row: StoreRow, found: Found) => Answer | undefined;
  /** The answer when all was stored; `head` is the row's after it. */
  readonly answer: (facts: readonly Fact[], head: number) => Answer;
}

/** The session of a sub-agent, by the intent of the call that it works on. */
export interface ChildSession {
  readonly sessionId: SessionId;
  readonly callId: CallId;
}

/** A driver takes the session. Throws `invalid_id` for a run of an engine that can't be one. */
export function claimCall(request: ClaimRequest): StoreCall<ClaimOutcome> {
  const { from, to, head, resumes } = request;
  const by = request.by === undefined ? undefined : engineRun(request.by);
  const incarnation = from + 1;
  const reset = to === undefined ? {} : { to };
  const goesOn = resumes === undefined ? {} : { resumes };
  return {
    lookup: { all: to !== undefined, by },
    bodies: [{ type: "session_claimed", incarnation, ...reset, ...goesOn }],
    driver: request.driver ?? by,
    refuse: (row, { claimed }) =>
      claimed === undefined && row.incarnation === from && (head ?? row.head) === row.head
        ? undefined
        : { outcome: "moved", incarnation: row.incarnation },
    answer: (facts) => ({ outcome: "claimed", incarnation, facts }),
  };
}

/** A person sends, takes back or answers. Without a key a repeat is not recognised. */
export function acceptCall(key: string | undefined, body: PeopleFact): StoreCall<AcceptOutcome> {
  return {
    lookup: { key, about: body },
    bodies: [body],
    refuse: (_, { keyed, about }) => {
      if (keyed !== undefined) {
        return isRepeat(keyed, body)
          ? { outcome: "duplicate", fact: keyed }
          : { outcome: "refused", reason: "key_reused" };
      }
      const reason = refusalOf(body, about);
      return reason === undefined ? undefined : { outcome: "refused", reason };
    },
    answer: (facts) => ({ outcome: "accepted", facts }),
  };
}

/** An attempt takes its lane. Throws `invalid_event` for an intent that names another session's child. */
export function openCall(
  uid: SessionUid,
  { lane, epoch, itemId, intent }: OpenRequest,
): StoreCall<OpenOutcome> {
  return {
    lookup: { itemId },
    bodies: intent === undefined ? [] : [intent],
    floor: { lane, epoch },
    child: intent && childOf(uid, intent),
    refuse: (row, { item }) => {
      if (item !== undefined) return { outcome: "exists", item };
      return mayOpen(row, { lane, epoch }) ? undefined : { outcome: "fenced" };
    },
    answer: (facts, head) => ({ outcome: "opened", head, facts }),
  };
}

function childOf(
  uid: SessionUid,
  { callId, childSessionId: id }: NonNullable<OpenRequest["intent"]>,
): ChildSession | undefined {
  if (id === undefined) return undefined;
  if (parentOf(id) === uid) return { sessionId: id, callId };
  throw new MillraceError("invalid_event", `${id} is no name for a sub-agent's session of ${uid}`);
}

/** The holder of a lane stores its item. A replacement finds its item there, and may. */
export function commitCall(request: CommitRequest): StoreCall<CommitOutcome> {
  const { fact, settlement = [], ahead } = request;
  const { lane, epoch } = fact;
  return {
    lookup: fact.type === "item_committed" ? { itemId: fact.item.id } : {},
    bodies: [fact, ...settlement, ...(ahead?.bodies ?? [])],
    refuse: (row, { item }) => {
      if (item !== undefined) return { outcome: "exists", item };
      const holds = floorOf(row, lane) === epoch && isOpenTo(row, lane, epoch);
      if (!holds) return { outcome: "fenced" };
      if (ahead === undefined || ahead.head === row.head) return undefined;
      return { outcome: "moved", head: row.head };
    },
    answer: (facts) => ({ outcome: "committed", facts }),
  };
}

/** The driver stores what it decided, and opens the lane of what comes next. */
export function appendCall(request: DriverRequest): StoreCall<DriverOutcome> {
  const { incarnation, head, bodies, opens } = request;
  const all = bodies.some(isReset);
  return {
    lookup: opens === undefined ? { all } : { all, itemId: opens.itemId },
    bodies,
    ...(opens === undefined ? {} : { floor: { lane: opens.lane, epoch: opens.epoch } }),
    refuse: (row, { item }) => {
      if (row.incarnation !== incarnation) return { outcome: "fenced" };
      // An item of the reserved id is among facts that the driver has not read.
      if (row.head !== head || item !== undefined) return { outcome: "moved", head: row.head };
      return opens === undefined || mayOpen(row, opens) ? undefined : { outcome: "fenced" };
    },
    answer: (facts) => ({ outcome: "appended", facts }),
  };
}

/**
 * What is known of a subject by the facts about it and those that may undo them, in their order. A
 * store need not read any others to decide a person's call.
 */
export function subjectOf({ uid, sessionId }: StoreRow, facts: readonly Fact[]): Subject {
  const { queue, approvals } = replay(emptyState(uid, sessionId), facts);
  return { accepted: facts.some(({ type }) => type === "input_accepted"), queue, approvals };
}

/** Fields of people's facts that are no part of their content: who sent it, and by which request. */
const noContent = { actor: null, trace: null };

/**
 * True if a call under a key that was used before repeats the call that used it. What must be equal
 * is the body: kind, parts and options of an input, the answer to a question. The envelope that the
 * store gave the fact is left out, and so is the actor: a repeat from another account or device is
 * still a repeat. Both are plain JSON and bytes, which are compared as such.
 */
function isRepeat(stored: Fact, body: PeopleFact): boolean {
  const { v: _, n: __, sessionId: ___, time: ____, ...before } = stored;
  return equalJson(
    { ...before, ...noContent } as unknown as Json,
    { ...body, ...noContent } as unknown as Json,
  );
}

/** Why a person's call is refused, by the state of its subject. */
function refusalOf(
  body: PeopleFact,
  { accepted, queue, approvals }: Subject,
): "key_reused" | "settled" | "unknown" | undefined {
  if (body.type === "input_accepted") return accepted ? "key_reused" : undefined;
  if (body.type === "queue_updated") {
    if (queue.some((queued) => queued.inputId === body.inputId)) return undefined;
    return accepted ? "settled" : "unknown";
  }
  const approval = approvals.find(({ asked }) => asked.approvalId === body.approvalId);
  if (approval === undefined) return "unknown";
  return approval.answer === undefined ? undefined : "settled";
}

function floorOf({ floors }: StoreRow, lane: number): Epoch | undefined {
  return floors.find((floor) => floor.lane === lane)?.epoch;
}

/** True if the epoch is above the lane's floor, of the session's driver, and of a generation of its own. */
function mayOpen(row: StoreRow, floor: Floor): boolean {
  const { lane, epoch } = floor;
  const isAbove = epoch > (floorOf(row, lane) ?? 0) && isOpenTo(row, lane, epoch);
  return isAbove && !isUsedElsewhere(row, floor);
}

/**
 * True if another lane has an epoch of the same incarnation and generation. Compared with the last epoch
 * of each lane that is open, and the last one of each that was closed by its item: the row keeps no
 * others. A lane that a turn, a run or a claim closed up to an epoch admits none up to that one. Epochs by
 * which a driver closes are left out, since no writer has them.
 */
function isUsedElsewhere({ floors, closedLanes }: StoreRow, { lane, epoch }: Floor): boolean {
  const next = nextGeneration(epoch);
  return [...floors, ...closedLanes].some(
    (other) =>
      other.lane !== lane && !isClosing(other.epoch) && nextGeneration(other.epoch) === next,
  );
}

/** True while the epoch is of the session's driver and nothing has closed it. */
function isOpenTo(row: StoreRow, lane: number, epoch: Epoch): boolean {
  return unpackEpoch(epoch).incarnation === row.incarnation && epoch > closedEpoch(row, lane);
}

import { catchUpFrom, SessionReader } from "@millrace/core/reading";
import type { Fact, SessionState } from "@millrace/core";
import type { Cursor, Followed, CatchUp, SessionSource } from "@millrace/core/reading";
import { publicFact } from "@millrace/core/wire";
import { List } from "@millrace/core/writing";

export interface MirrorOptions extends SessionSource {
  /** Called after each change of the ring. */
  readonly changed: () => void;
  /**
   * Called with each message before it is in the ring, and the state before it; without a state while
   * viewers may hold lanes that are not shown. Returns how many bytes the message has for a viewer.
   */
  readonly applied: (before: SessionState | undefined, followed: Followed) => number;
  /** How many of the last facts are kept for viewers that reconnect. */
  readonly keptFacts: number;
  /** The bytes of items in a snapshot, as in `follow`. */
  readonly snapshotBytes: number;
  /** How many of the last messages are kept for viewers that are a little behind. */
  readonly keptMessages: number;
}

/**
 * Facts that are read at the first join for viewers that reconnect, as after a deploy. A viewer that
 * lacks more of them gets a snapshot.
 */
const factsAtJoin = 256;

/** How many spans are remembered. Viewers are at few different indexes, most at the end. */
const spansAtMost = 8;

/** How many sizes of snapshots are shared at one state. Viewers may ask for any. */
const budgetsAtMost = 8;

/**
 * One session as this process has read it: its reader, its last facts and its last messages. The room
 * drives the reader; the reader's callbacks fill the ring.
 */
export class Mirror {
  readonly ring: Ring;
  readonly reader: SessionReader;
  readonly #options: MirrorOptions;
  #facts: Fact[] = [];
  /** The reader's state after the last message: the one before the next. */
  #last: SessionState | undefined;
  /** What joining viewers are sent of the state, by its bytes. */
  #newest: { readonly of: SessionState; readonly byBytes: Map<number, SessionState> } | undefined;
  /** False until the first subscription: lanes may be read in part until then. */
  #hasLanes = false;
  /**
   * Every viewer has the items of the session from this number on. A viewer that joined has the newest ones
   * within its budget, and one that came back has at least the last of those it had, and all that came since.
   */
  #sharedFrom = 0;

  constructor(options: MirrorOptions) {
    const { keptFacts, keptMessages, changed, applied } = options;
    this.#options = options;
    this.ring = new Ring(keptMessages);
    this.reader = new SessionReader({
      ...options,
      factsAfter: (head) => head - Math.min(keptFacts, factsAtJoin),
      onMessage: (followed) => {
        const { cursor } = followed;
        const message = "n" in followed.message ? publicFact(followed.message) : followed.message;
        const before = this.#last;
        this.#last = this.reader.state;
        if ("n" in message) this.#keep(message);
        else if (!this.#hasLanes) return;
        // Lanes that viewers have not been sent are in no cursor: they get all of them later.
        const shown = { message, cursor: this.#hasLanes ? cursor : { ...cursor, lanes: [] } };
        const shared = this.#hasLanes && before ? this.#sharedState(before, message) : undefined;
        this.ring.push(shown, applied(shared, shown));
        changed();
      },
      onReset: (facts) => {
        this.#last = this.reader.state;
        this.#facts = facts.slice(-keptFacts).map(publicFact);
        // Before any later message: those apply to the new state, which no viewer has yet.
        this.ring.skip();
        changed();
      },
    });
  }

  /** The first subscription was made. A viewer that was served from the store alone now gets the open lanes. */
  showLanes(): void {
    if (this.#hasLanes) return;
    this.#hasLanes = true;
    this.#newest = undefined;
    this.ring.skip();
    this.#options.changed();
  }

  /** The state to serve viewers from. */
  get state(): SessionState {
    const { state } = this.reader;
    return this.#hasLanes ? state : { ...state, lanes: [] };
  }

  /** What brings a viewer from its cursor to the state, with at most `limit` facts. */
  catchUpFrom(cursor: Cursor | undefined, limit: number, budget?: number): CatchUp {
    const { state, ring } = this;
    const newest = this.#newestOf(budget ?? this.#options.snapshotBytes);
    const caughtUp = catchUpFrom(
      { state, newest, facts: this.#facts, recent: ring },
      cursor,
      limit,
    );
    const first = caughtUp.messages[0]?.message;
    const from =
      first !== undefined && "closedLanes" in first
        ? (first.earlier?.count ?? 0)
        : state.items.length + (state.earlier?.count ?? 0) - 1;
    this.#sharedFrom = Math.max(this.#sharedFrom, from);
    return caughtUp;
  }

  /** The state with the newest items within so many bytes, for a viewer that joins. */
  #newestOf(bytes: number): SessionState {
    const { state } = this.reader;
    if (this.#newest?.of !== state) this.#newest = { of: state, byBytes: new Map() };
    const { byBytes } = this.#newest;
    const made = byBytes.get(bytes);
    if (made !== undefined) return made;
    const newest = this.reader.newest(bytes);
    const shown = this.#hasLanes ? newest : { ...newest, lanes: [] };
    if (byBytes.size < budgetsAtMost) byBytes.set(bytes, shown);
    return shown;
  }

  /**
   * The state before a message, as far as every viewer has what the message may refer to: a step must not
   * refer to a call in an item that a viewer lacks.
   */
  #sharedState(before: SessionState, message: Followed["message"]): SessionState {
    if (!("callId" in message) || !("n" in message)) return before;
    const { items, earlier } = before;
    const { callId } = message;
    const at = items.findLastIndex(({ parts }) =>
      parts.some((part) => part.kind === "tool_call" && part.callId === callId),
    );
    if (at + (earlier?.count ?? 0) >= this.#sharedFrom) return before;
    return { ...before, items: List.of(items.toArray().slice(-1)) };
  }

  #keep(fact: Fact): void {
    const { keptFacts } = this.#options;
    this.#facts.push(fact);
    // Cut in bulk: dropping one at a time would cost O(n) each.
    if (this.#facts.length > keptFacts * 2) this.#facts = this.#facts.slice(-keptFacts);
  }
}

/** A position in the ring: all before the index was taken. */
export interface RingPosition {
  readonly index: number;
  /** Of the last message before it. Left out: none was taken since the position was first stored. */
  readonly cursor?: Cursor | undefined;
}

/**
 * The last messages of a room, shared by its viewers. A viewer holds an index and no copies, so that
 * one that never reads costs no more than one that does. Every message gets the next index; indexes
 * are never reused. The room's mirror pushes, viewers read with `since`.
 *
 * A viewer whose index is below `start` is resynchronised from the room's state.
 */
export class Ring {
  readonly #capacity: number;
  readonly #messages: Followed[] = [];
  /** For each message the bytes of all before it. */
  readonly #before: number[] = [];
  #bytes = 0;
  /** The arrays given out since the last push, by their first index. */
  readonly #spans = new Map<number, readonly Followed[]>();
  #start = 0;
  #end = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The index of the oldest message in it. */
  get start(): number {
    return this.#start;
  }

  /** The index that the next message gets. */
  get end(): number {
    return this.#end;
  }

  /** `bytes`: how many it has for a viewer. */
  push(followed: Followed, bytes: number): void {
    this.#spans.clear();
    this.#messages[this.#end % this.#capacity] = followed;
    this.#before[this.#end % this.#capacity] = this.#bytes;
    this.#bytes += bytes;
    this.#end += 1;
    this.#start = Math.max(this.#start, this.#end - this.#capacity);
  }

  at(index: number): Followed | undefined {
    return index < this.#start || index >= this.#end
      ? undefined
      : this.#messages[index % this.#capacity];
  }

  /** The bytes of its messages from an index on. */
  bytesSince(index: number): number {
    if (index >= this.#end) return 0;
    const from = this.#before[Math.max(index, this.#start) % this.#capacity];
    return this.#bytes - (from ?? this.#bytes);
  }

  /**
   * At most so many messages from an index on. Between two pushes, equal calls give the same array
   * (as long as it is remembered): an array is encoded once for all viewers that hold it.
   */
  since(index: number, atMost: number): readonly Followed[] {
    if (index >= this.#end) return [];
    const end = Math.min(this.#end, index + atMost);
    const made = this.#spans.get(index);
    if (made?.length === end - index) return made;
    const span: Followed[] = [];
    for (let at = index; at < end; at += 1) {
      const followed = this.at(at);
      if (followed !== undefined) span.push(followed);
    }
    if (this.#spans.size === spansAtMost) this.#spans.clear();
    this.#spans.set(index, span);
    return span;
  }

  /** Invalidates every viewer's index; each is resynchronised from the state. */
  skip(): void {
    this.#spans.clear();
    this.#messages.length = 0;
    // One more than the last index: a viewer that has read to the end must be resynchronised too.
    this.#end += 1;
    this.#start = this.#end;
  }

  /** From the oldest to the newest. */
  *[Symbol.iterator](): Generator<Followed, void, undefined> {
    for (let index = this.#start; index < this.#end; index += 1) {
      const followed = this.at(index);
      if (followed !== undefined) yield followed;
    }
  }
}

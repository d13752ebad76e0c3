import { textOf } from "@millrace/core";
import { apply, cursorOf, emptyState, restore } from "@millrace/core/reading";
import { decodeCursor, encodeCursor } from "@millrace/core/wire";
import type { Fact, SessionState } from "@millrace/core";
import type { Batch } from "@millrace/core/ports";
import type { Cursor, OpenLane } from "@millrace/core/reading";
import type { HubViewer, Delivered, Hub } from "./hub.ts";
import { incarnationOf } from "./session.ts";
import type { Session } from "./session.ts";
import { promise } from "./violation.ts";

/** A viewer. What it shows is checked after every single message. */
export class Viewer implements HubViewer {
  /** The hub it is connected to. */
  hub: number | undefined;
  inbox: Delivered[] = [];
  state: SessionState;
  /** The highest epoch it has shown, by lane. */
  readonly seen = new Map<number, number>();
  readonly #session: Session;
  #fresh = true;
  /** The last cursor from its hub. */
  #told: Cursor | undefined;
  #disconnect: (() => void) | undefined;
  #taken: PromiseWithResolvers<void> | undefined;

  constructor(session: Session) {
    this.#session = session;
    this.state = emptyState(session.uid, session.sessionId);
  }

  /** Its cursor, as it would go over the wire. */
  get cursor(): Cursor | undefined {
    if (this.#fresh) return undefined;
    const cursor = this.#told ?? cursorOf(this.state);
    const decoded = decodeCursor(encodeCursor(cursor));
    promise(
      decoded !== undefined && JSON.stringify(decoded) === JSON.stringify(cursor),
      () => `a cursor at head ${cursor.head} does not survive the wire`,
    );
    return decoded;
  }

  /** Takes its place at a hub. */
  async connect(number: number, hub: Pick<Hub, "connect">): Promise<void> {
    this.inbox = [];
    this.#disconnect = await hub.connect(this);
    this.hub = number;
  }

  leave(): void {
    this.#disconnect?.();
    this.#disconnect = undefined;
    this.hub = undefined;
    this.inbox = [];
    this.#makeRoom();
  }

  /** Resolves when something has been taken. */
  room(): Promise<void> {
    this.#taken ??= Promise.withResolvers();
    return this.#taken.promise;
  }

  /** Takes so many of the messages that wait. A gap sends it back to a hub with its cursor. */
  take(count: number): void {
    for (const { message, cursor } of this.inbox.splice(0, count)) {
      this.#fresh = false;
      this.#told = cursor;
      if ("items" in message) {
        promise(message.head >= this.state.head, () => "a snapshot leads a viewer back");
        this.state = restore(message);
      } else {
        const { verdict, state } = apply(this.state, message);
        this.state = state;
        const whole = cursor === undefined || (verdict !== "gap" && !isPast(message, verdict));
        promise(whole, () => `a hub sends what is a ${verdict} to its viewer`);
        if (verdict === "gap") {
          this.leave();
          return;
        }
      }
      const backed = cursor === undefined || isBacked(cursor, this.state);
      promise(backed, () => "a viewer's cursor says more than it was told");
      this.#check();
    }
    this.#makeRoom();
  }

  #makeRoom(): void {
    this.#taken?.resolve();
    this.#taken = undefined;
  }

  /** All that it shows is true, if not yet all of the truth. */
  #check(): void {
    const { state } = this;
    const { truths, head } = this.#session;
    promise(state.head <= head, () => `a viewer is at fact ${state.head} of ${head}`);
    const truth = truths.at(state.head);
    const { items, queue } = truth;
    promise(
      state.items.length === items.length &&
        items.every((item, at) => same(item, state.items.at(at))),
      () => `at fact ${state.head} a viewer has other items than the store`,
    );
    promise(
      state.queue.length === queue.length &&
        queue.every((input, at) => state.queue[at]?.inputId === input),
      () => `at fact ${state.head} a viewer has another queue than the store`,
    );
    promise(
      state.incarnation === truth.incarnation && state.run?.runId === truth.run,
      () => `at fact ${state.head} a viewer has another run or driver than the store`,
    );
    for (const lane of state.lanes) this.#checkLane(lane);
  }

  #checkLane({ lane, epoch, seq, itemId, draft }: OpenLane): void {
    const { head } = this.state;
    const truth = this.#session.truths.at(head);
    const author = this.#session.authors.get(epoch);
    const text = draft.parts.map((part) => (part.state === "open" ? textOf(part) : "")).join("");
    promise(
      author?.itemId === itemId && author.texts[seq] === text,
      () => `lane ${lane} shows "${text}" at ${seq}, which is not what its writer had written`,
    );
    promise(
      truth.items.every(({ id }) => id !== itemId),
      () => `a draft of ${itemId} is shown beside the item`,
    );
    promise(author.head <= head, () => `${itemId} is shown before the facts it rests on`);
    const before = this.seen.get(lane) ?? 0;
    promise(epoch >= before, () => `lane ${lane} goes back from epoch ${before} to ${epoch}`);
    promise(
      incarnationOf(epoch) === truth.incarnation,
      () => `a draft of incarnation ${incarnationOf(epoch)} is shown in ${truth.incarnation}`,
    );
    this.seen.set(lane, epoch);
  }
}

/** True if a cursor stands for a state. It may still name lanes that were closed: they stay closed. */
export function leadsTo(cursor: Cursor, state: SessionState): boolean {
  const here = cursorOf(state);
  return (
    cursor.uid === here.uid &&
    cursor.head === here.head &&
    here.lanes.every(({ lane, epoch, seq }) =>
      cursor.lanes.some((at) => at.lane === lane && at.epoch === epoch && at.seq === seq),
    )
  );
}

/** True if a state has all that a cursor covers, and perhaps more of its lanes. */
function isBacked({ head, lanes }: Cursor, state: SessionState): boolean {
  if (head !== state.head) return false;
  return lanes.every(({ lane, epoch, seq }) => {
    const open = state.lanes.find((at) => at.lane === lane);
    const own = state.closedLanes.find((at) => at.lane === lane);
    if (open !== undefined && (epoch < open.epoch || (epoch === open.epoch && seq <= open.seq)))
      return true;
    return epoch <= Math.max(state.closed, own?.epoch ?? 0);
  });
}

/** A fact is delivered once. A lane may be restated to a viewer that has it. */
function isPast(message: Fact | Batch, verdict: string): boolean {
  return "n" in message && verdict !== "applied";
}

function same(item: unknown, shown: unknown): boolean {
  return item === shown || JSON.stringify(item) === JSON.stringify(shown);
}

/** All of a state, as text. Not its snapshot: that is under test too. Linear in the state. */
export function describeState(state: SessionState): string {
  return JSON.stringify(plain(state));
}

function plain({ lanes, items, ...rest }: SessionState): unknown {
  const open = lanes.map(({ draft, ...lane }) => [sorted(lane), draft.parts.map(shown)]);
  return [sorted(rest), open, items.toArray()];
}

/** What is left out and what is undefined are the same, and so is every order of the names. */
function sorted(fields: object): unknown {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .toSorted(([left], [right]) => (left < right ? -1 : 1));
}

function shown(part: OpenLane["draft"]["parts"][number]): unknown {
  return part.state === "open" ? [part.id, part.begin, textOf(part)] : part;
}

import { SessionReader } from "@millrace/core/reading";
import type { Fact, SessionState } from "@millrace/core";
import type { Followed, SessionSource } from "@millrace/core/reading";
import { Ring } from "./ring.ts";

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

/** How many sizes of snapshots are shared at one state. Viewers may ask for any. */
const budgetsAtMost = 8;

/**
 * One session as this process has read it: its reader, its last facts and its last messages. The room
 * drives the reader; the reader's callbacks fill the ring.
 */
export class Mirror {
  readonly ring: Ring;
  readonly reader: SessionReader;
  readonly #keptFacts: number;
  readonly #changed: () => void;
  #facts: Fact[] = [];
  /** The reader's state after the last message: the one before the next. */
  #last: SessionState | undefined;
  /** What joining viewers are sent of the state, by its bytes. */
  #newest: { readonly of: SessionState; readonly byBytes: Map<number, SessionState> } | undefined;
  /** False until the first subscription: lanes may be read in part until then. */
  #hasLanes = false;

  constructor(options: MirrorOptions) {
    const { keptFacts, keptMessages, changed, applied } = options;
    this.#keptFacts = keptFacts;
    this.#changed = changed;
    this.ring = new Ring(keptMessages);
    this.reader = new SessionReader({
      ...options,
      factsAfter: (head) => head - Math.min(keptFacts, factsAtJoin),
      onMessage: (followed) => {
        const { message, cursor } = followed;
        const before = this.#last;
        this.#last = this.reader.state;
        if ("n" in message) this.#keep(message);
        else if (!this.#hasLanes) return;
        // Lanes that viewers have not been sent are in no cursor: they get all of them later.
        const shown = this.#hasLanes ? followed : { message, cursor: { ...cursor, lanes: [] } };
        this.ring.push(shown, applied(this.#hasLanes ? before : undefined, shown));
        changed();
      },
      onReset: (facts) => {
        this.#last = this.reader.state;
        this.#facts = facts.slice(-keptFacts);
        // Before any later message: those apply to the new state, which no viewer has yet.
        this.ring.skip();
        changed();
      },
    });
  }

  get facts(): readonly Fact[] {
    return this.#facts;
  }

  /** The first subscription was made. A viewer that was served from the store alone now gets the open lanes. */
  showLanes(): void {
    if (this.#hasLanes) return;
    this.#hasLanes = true;
    this.#newest = undefined;
    this.ring.skip();
    this.#changed();
  }

  /** The state to serve viewers from. */
  get state(): SessionState {
    const { state } = this.reader;
    return this.#hasLanes ? state : { ...state, lanes: [] };
  }

  /** The same with the newest items within so many bytes, for a viewer that joins. */
  newest(bytes: number): SessionState {
    const { state } = this.reader;
    if (this.#newest?.of !== state) this.#newest = { of: state, byBytes: new Map() };
    const { byBytes } = this.#newest;
    const known = byBytes.get(bytes);
    if (known !== undefined) return known;
    const newest = this.reader.newest(bytes);
    const shown = this.#hasLanes ? newest : { ...newest, lanes: [] };
    if (byBytes.size < budgetsAtMost) byBytes.set(bytes, shown);
    return shown;
  }

  #keep(fact: Fact): void {
    this.#facts.push(fact);
    // Cut in bulk: dropping one at a time would cost O(n) each.
    if (this.#facts.length > this.#keptFacts * 2) this.#facts = this.#facts.slice(-this.#keptFacts);
  }
}

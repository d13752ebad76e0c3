import { setTimeout as sleep } from "node:timers/promises";
import { project } from "@millrace/core";
import { apply, emptyState, restore } from "@millrace/core/reading";
import type { SessionId, SessionState, SessionUid, View } from "@millrace/core";
import type { Cursor, Followed } from "@millrace/core/reading";

/** Whom a viewer watches. */
export interface Place {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
}

/** A server that viewers watch through. */
export interface Node {
  readonly name: string;
  readonly watch: (
    place: Place & { readonly cursor?: Cursor | undefined; readonly signal: AbortSignal },
  ) => AsyncIterable<Followed>;
}

/** How long a viewer waits before it joins anew. A browser's own wait is longer. */
const pauseMs = 20;

/** A viewer of a session that reconnects from its last cursor whenever the connection breaks. */
export class Viewer implements AsyncDisposable {
  readonly #place: Place;
  readonly #left = new AbortController();
  readonly #watching: Promise<void>;
  #node: Node;
  #state: SessionState;
  #cursor: Cursor | undefined;
  #join = new AbortController();
  #view: View | undefined;
  joins = 0;
  /** Why it last had to join anew. */
  broken: unknown;
  /** What came and neither fitted nor was a duplicate. A node never sends that. */
  misfits = 0;

  constructor(place: Place, node: Node) {
    this.#place = place;
    this.#node = node;
    this.#state = emptyState(place.uid, place.sessionId);
    this.#watching = this.#watch();
  }

  get node(): string {
    return this.#node.name;
  }

  get state(): SessionState {
    return this.#state;
  }

  /** What its screen shows. */
  get view(): View {
    return (this.#view ??= project(this.#state));
  }

  /** Moves to another node, with its cursor or without. */
  move(node: Node, keeps: "cursor" | "nothing"): void {
    this.#node = node;
    if (keeps === "nothing") {
      const { uid, sessionId } = this.#place;
      this.#set(emptyState(uid, sessionId));
      this.#cursor = undefined;
    }
    this.#join.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#left.abort();
    this.#join.abort();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    while (!this.#left.signal.aborted) {
      this.joins += 1;
      this.#join = new AbortController();
      try {
        await this.#joinOnce(this.#join.signal);
      } catch (error) {
        this.broken = error; // the loop reconnects
      }
      if (!this.#left.signal.aborted) await sleep(pauseMs);
    }
  }

  async #joinOnce(signal: AbortSignal): Promise<void> {
    const watched = { ...this.#place, cursor: this.#cursor, signal };
    for await (const { message, cursor } of this.#node.watch(watched)) {
      if (signal.aborted) return;
      if ("closedLanes" in message) this.#set(restore(message));
      else {
        const applied = apply(this.#state, message);
        if (applied.verdict === "gap") this.misfits += 1;
        this.#set(applied.state);
      }
      this.#cursor = cursor;
    }
  }

  #set(state: SessionState): void {
    this.#state = state;
    this.#view = undefined;
  }
}

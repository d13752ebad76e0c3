import { setTimeout as sleep } from "node:timers/promises";
import { textOf } from "@millrace/core";
import { apply, emptyState, restore } from "@millrace/core/reading";
import type { SessionId, SessionState, SessionUid } from "@millrace/core";
import type { Epoch } from "@millrace/core/ports";
import type { Cursor, Followed, OpenLane } from "@millrace/core/reading";

export interface CheckingViewerOptions {
  readonly name: string;
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  /** Watches from a position, as `follow` or a hub does. */
  readonly watch: (
    cursor: Cursor | undefined,
    signal: AbortSignal,
  ) => AsyncGenerator<Followed, void, undefined>;
  /** The whole text of the attempt of this lane and epoch, if it may write at all. */
  readonly wholeText: (lane: number, epoch: Epoch) => string | undefined;
}

/** A message that a viewer received, as far as tests need it. */
export interface ReceivedMessage {
  /** The epoch of a batch. */
  readonly epoch?: Epoch;
  /** The number of a fact. */
  readonly n?: number;
}

/** It reconnects after a break. More than this is no accident. */
const joinsAtMost = 20;

/**
 * A viewer that checks itself. At each message, its text must be a prefix of what one attempt
 * wrote, of the newest attempt that it received, and never shorter than before.
 */
export class CheckingViewer {
  readonly faults: string[] = [];
  readonly received: ReceivedMessage[] = [];
  readonly #options: CheckingViewerOptions;
  readonly #leaving = new AbortController();
  readonly #newest = new Map<number, Epoch>();
  readonly #shown = new Map<Epoch, number>();
  readonly #watching: Promise<void>;
  #state: SessionState;
  #joins = 0;

  constructor(options: CheckingViewerOptions) {
    this.#options = options;
    this.#state = emptyState(options.uid, options.sessionId);
    this.#watching = this.#watch();
  }

  get state(): SessionState {
    return this.#state;
  }

  /** The epochs of which it has shown some text. */
  shown(): readonly Epoch[] {
    return [...this.#shown].filter(([, length]) => length > 0).map(([epoch]) => epoch);
  }

  /** Waits until the condition holds. Throws with its state after a time limit. */
  async until(condition: () => boolean, what: string, ms = 30_000): Promise<void> {
    const end = performance.now() + ms;
    while (!condition()) {
      if (performance.now() > end || this.faults.length > 0) {
        const { head, lanes } = this.#state;
        const drafts = lanes.map((lane) => `${lane.epoch}: ${draftText(lane)}`).join("; ");
        const found = [...this.faults, `not within ${ms} ms: ${what}, at ${head} with ${drafts}`];
        throw new Error(`${this.#options.name}: ${found.join("\n")}`);
      }
      await sleep(5);
    }
  }

  async joined(): Promise<void> {
    await this.until(() => this.received.length > 0, "has joined");
  }

  async leave(): Promise<void> {
    this.#leaving.abort();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#leaving;
    let cursor: Cursor | undefined;
    let broke: unknown;
    while (!signal.aborted) {
      this.#joins += 1;
      if (this.#joins > joinsAtMost) {
        this.#fault(`joined ${joinsAtMost} times: ${String(broke)}`);
        return;
      }
      try {
        for await (const followed of this.#options.watch(cursor, signal)) {
          this.#take(followed);
          ({ cursor } = followed);
        }
      } catch (error) {
        broke = error; // the connection, as a rule: it comes back to where it was
        await sleep(50);
      }
    }
  }

  #take({ message }: Followed): void {
    if ("closedLanes" in message) {
      this.#state = restore(message);
      this.received.push({});
    } else {
      const applied = apply(this.#state, message);
      if (applied.verdict !== "applied")
        this.#fault(`was told what is a ${applied.verdict}: ${JSON.stringify(message)}`);
      this.#state = applied.state;
      this.received.push("n" in message ? { n: message.n } : { epoch: message.epoch });
    }
    for (const lane of this.#state.lanes) this.#look(lane);
  }

  #look(open: OpenLane): void {
    const { lane, epoch } = open;
    const newest = this.#newest.get(lane) ?? 0;
    if (epoch < newest) this.#fault(`shows ${epoch} of lane ${lane} after ${newest}`);
    if (epoch <= this.#state.closed) this.#fault(`shows ${epoch}, which is closed`);
    this.#newest.set(lane, Math.max(newest, epoch));
    const text = draftText(open);
    const whole = this.#options.wholeText(lane, epoch);
    if (whole?.startsWith(text) !== true)
      this.#fault(`shows "${text}" of ${epoch}, which says "${whole}"`);
    // A restated attempt has all of its text.
    const before = this.#shown.get(epoch) ?? 0;
    if (text.length < before) this.#fault(`shows less of ${epoch} than before: "${text}"`);
    this.#shown.set(epoch, Math.max(before, text.length));
  }

  #fault(what: string): void {
    if (this.faults.length < 10) this.faults.push(`${this.#options.name} ${what}`);
  }
}

/** The text of an open lane, whatever of it is committed. */
function draftText({ draft }: OpenLane): string {
  return draft.parts
    .map((part) => {
      if (part.state === "open") return textOf(part);
      return part.part.kind === "text" ? part.part.text : "";
    })
    .join("");
}

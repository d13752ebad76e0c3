import type { Followed } from "@millrace/core/reading";
import type { DialectStream, DialectEncoder } from "../../shared/encode/dialect-encoding.ts";
import { interruption } from "../../shared/encode/interruption.ts";
import { RunFollower } from "../../shared/encode/run-record.ts";
import type { FollowedRun, RunRecord } from "../../shared/encode/run-record.ts";
import { startOf } from "./ends.ts";
import { frameOf } from "./events.ts";
import type { AgUiEvent } from "./events.ts";
import { RunEncoder } from "./run-encoder.ts";
import type { RunEncoderOptions } from "./run-encoder.ts";

/** One run for one reader. */
export interface AgUiStreamOptions extends FollowedRun, RunEncoderOptions {
  /** Unlike that of any other reader of the session: what a page holds is sent to that page alone. */
  readonly name: string;
  /**
   * `start`: the reader holds nothing of the run. `received`: it holds the run up to a fact, at which the run
   * waited for its answer. `anew`: it gets all messages first; `isAligned`: what it holds is where they begin.
   */
  readonly begin:
    | { readonly kind: "start" }
    | { readonly kind: "received"; readonly n: number }
    | { readonly kind: "anew"; readonly isAligned: boolean };
  /** The session's head when its reader came. That the run waited for an answer before then is past. */
  readonly live: number;
}

/** A run as events of AG-UI. */
export function agUiStream(options: AgUiStreamOptions): DialectStream {
  return {
    name: `ag-ui ${options.name}`,
    open: () => new AgUiEncoder(options),
    end: (reason) =>
      reason === "finished"
        ? ""
        : frameOf({ type: "RUN_ERROR", message: interruption(reason, then), code: reason }),
  };
}

const then = "Run the agent again, without a new message, to go on.";

/** A run as it is sent to one reader. */
class AgUiEncoder implements DialectEncoder {
  readonly #follower: RunFollower;
  readonly #encoder: RunEncoder;
  readonly #options: AgUiStreamOptions;
  #isStarted = false;
  /** Whether the reader holds what the encoder counts as sent. */
  #isLevel: boolean;

  constructor(options: AgUiStreamOptions) {
    this.#options = options;
    this.#follower = new RunFollower(options);
    this.#encoder = new RunEncoder(options);
    this.#isLevel = options.begin.kind === "start";
  }

  encode(message: Followed["message"]): string {
    return this.events(message).map(frameOf).join("");
  }

  isOver = (): boolean => this.#encoder.isEnded;

  /** The events that a message adds. */
  events(message: Followed["message"]): readonly AgUiEvent[] {
    if (this.isOver()) return [];
    const out: AgUiEvent[] = [];
    if (!this.#isStarted) out.push(startOf(this.#options.asked));
    this.#isStarted = true;
    if (!this.#follower.take(message)) return out;
    if (!this.#isLevel && !this.#level(out)) return out;
    out.push(...this.#encode(message));
    return out;
  }

  /** Comes to where the reader is, or brings the reader to where the run is. False: it is not yet there. */
  #level(out: AgUiEvent[]): boolean {
    const { begin, live } = this.#options;
    const { head } = this.#follower.state;
    const from = begin.kind === "received" ? begin.n : live;
    if (head < from) return false;
    this.#isLevel = true;
    const record = this.#record();
    if (begin.kind === "received" && head === from) {
      out.push(...this.#encoder.adopt(record));
      return false;
    }
    // A snapshot of the session led past where the reader is, if it was known.
    this.#encoder.restate(record, out, begin.kind !== "anew" || !begin.isAligned);
    return true;
  }

  #encode(message: Followed["message"]): readonly AgUiEvent[] {
    const isContinued = "events" in message && message.first > 0;
    const grown = isContinued
      ? this.#encoder.encodeBatch(this.#follower.state, message)
      : undefined;
    return grown ?? this.#encoder.encode(this.#record());
  }

  /** The run, without a wait that is past. */
  #record(): RunRecord {
    const { record } = this.#follower;
    const isPast = record.state.head < this.#options.live;
    return isPast && record.phase === "waiting" ? { ...record, phase: "on" } : record;
  }
}

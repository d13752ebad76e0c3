import type { Followed } from "@millrace/core/reading";
import { interruption } from "../../shared/encode/interruption.ts";
import { RunFollower } from "../../shared/encode/run-record.ts";
import type { FollowedRun } from "../../shared/encode/run-record.ts";
import type { DialectStream, DialectEncoder } from "../../shared/encode/dialect-encoding.ts";
import { doneEvent, eventOf } from "./chunks.ts";
import type { Chunk } from "./chunks.ts";
import type { BlobUrl } from "../../shared/encode/file-url.ts";
import type { Profile } from "./profiles.ts";
import { RunEncoder } from "./run-encoder.ts";

/** One run for one reader. */
export interface UiMessageStreamOptions extends FollowedRun {
  readonly profile: Profile;
  readonly blobUrl: BlobUrl;
  /**
   * The reader's message has all up to this fact: its request carries the answers for which the run waited
   * then. Left out: the message is sent from its start.
   */
  readonly receivedTo?: number | undefined;
  /** The session's head when its reader came. That the run waited for an answer before then is past. */
  readonly live: number;
}

/** The UI message stream of a run. */
export function uiMessageStream(options: UiMessageStreamOptions): DialectStream {
  const { profile, runId, head, live, receivedTo = 0 } = options;
  return {
    name: `ai-sdk ${profile.name} ${runId} ${head} ${live} ${receivedTo}`,
    open: () => new UiMessageEncoder(options),
    end: (reason) =>
      reason === "finished"
        ? doneEvent
        : eventOf({ type: "error", errorText: interruption(reason, then) }) + doneEvent,
  };
}

const then = "Load the conversation anew to go on.";

/** A run as it is sent to one reader. */
class UiMessageEncoder implements DialectEncoder {
  readonly #follower: RunFollower;
  readonly #encoder: RunEncoder;
  readonly #options: UiMessageStreamOptions;
  #isOver = false;
  #isStarted = false;

  constructor(options: UiMessageStreamOptions) {
    this.#options = options;
    this.#follower = new RunFollower(options);
    this.#encoder = new RunEncoder({ ...options, messageId: options.runId });
  }

  encode(message: Followed["message"]): string {
    return this.chunks(message).map(eventOf).join("");
  }

  isOver = (): boolean => this.#isOver;

  /** The chunks that a message adds. */
  chunks(message: Followed["message"]): readonly Chunk[] {
    if (this.#isOver || !this.#follower.take(message)) return [];
    const { receivedTo = 0, runId } = this.#options;
    const added = this.#encode(message);
    if (this.#follower.state.head <= receivedTo) return []; // its reader has it
    this.#isOver = this.#encoder.isEnded || this.#follower.isGone;
    if (added.length === 0 || this.#isStarted) return added;
    this.#isStarted = true;
    const [first] = added;
    return first?.type === "start" ? added : [{ type: "start", messageId: runId }, ...added];
  }

  #encode(message: Followed["message"]): readonly Chunk[] {
    const isContinued = "events" in message && message.first > 0;
    const grown = isContinued
      ? this.#encoder.encodeBatch(this.#follower.state, message)
      : undefined;
    if (grown !== undefined) return grown;
    const { record } = this.#follower;
    const isPast = record.state.head < this.#options.live;
    return this.#encoder.encode(
      isPast && record.phase === "waiting" ? { ...record, phase: "on" } : record,
    );
  }
}

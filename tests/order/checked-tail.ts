import { isDeepStrictEqual } from "node:util";
import { schemaVersion } from "@millrace/core/wire";
import { runId } from "@millrace/core/writing";
import type { Fact, SessionId } from "@millrace/core";
import type { Batch } from "@millrace/core/ports";
import { promise } from "./violation.ts";

/** A message that was sent through the log. */
export interface Sent {
  readonly message: Fact | Batch;
  /** It must be announced. If not, it may be. */
  readonly sure: boolean;
}

/** A subscription of a hub. What the log announces waits here, and is checked against what was sent. */
export class CheckedTail {
  /** What has been announced and not been taken, oldest first. */
  readonly waiting: (Fact | Batch)[] = [];
  readonly #tail: AsyncIterator<Fact | Batch, unknown>;
  #sent: Sent[] = [];

  constructor(tail: AsyncIterable<Fact | Batch>) {
    this.#tail = tail[Symbol.asyncIterator]();
  }

  expect(sent: Sent): void {
    this.#sent.push(sent);
  }

  /**
   * Receives all that was sent so far. In a remote log it ends at the marks, which were sent last.
   */
  async gather(marks: ReadonlySet<string>): Promise<void> {
    if (marks.size === 0) await this.#gatherSent();
    else await this.#gatherUntil(new Set(marks));
  }

  async close(): Promise<void> {
    await this.#tail.return?.();
  }

  /** In memory everything is there by now, in order. */
  async #gatherSent(): Promise<void> {
    for (const { message } of this.#sent) {
      const received = await this.#tail.next();
      promise(received.value === message, () => "the log announces otherwise");
      this.waiting.push(message);
    }
    if (this.#sent.length > 0) this.#sent = [];
  }

  async #gatherUntil(marks: Set<string>): Promise<void> {
    while (marks.size > 0) {
      const received = await this.#tail.next();
      promise(received.done !== true, () => "the log ends a subscription");
      const message = received.value;
      const mark = markOf(message);
      if (mark === undefined) this.#match(message);
      else marks.delete(mark);
    }
    for (const { sure } of this.#sent)
      promise(!sure, () => "the log does not announce what it has");
    this.#sent = [];
  }

  #match(message: Fact | Batch): void {
    const at = this.#sent.findIndex((sent) => isDeepStrictEqual(message, sent.message));
    promise(at >= 0, () => "the log announces what was not sent");
    const before = this.#sent.splice(0, at + 1).slice(0, -1);
    promise(
      before.every(({ sure }) => !sure),
      () => "the log announces in another order",
    );
    this.waiting.push(message);
  }
}

const prefix = "mark ";

/** A fact that is only announced: when it arrives, all before it has arrived. */
export function markFact(mark: number, sessionId: SessionId): Fact {
  const id = runId(`${prefix}${mark}`);
  return { v: schemaVersion, n: 1, sessionId, time: 0, type: "run_started", runId: id };
}

/** What `markFact` made, or nothing if this is no mark. */
export function markOf(message: Fact | Batch): string | undefined {
  if (!("n" in message) || message.type !== "run_started") return undefined;
  return message.runId.startsWith(prefix) ? message.runId : undefined;
}

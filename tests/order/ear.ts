import { isDeepStrictEqual } from "node:util";
import { schemaVersion } from "@millrace/core/wire";
import { runId } from "@millrace/core/writing";
import type { Fact, SessionId } from "@millrace/core";
import type { Batch } from "@millrace/core/ports";
import { promise } from "./violation.ts";

/** Something that was said through the log. */
export interface Sent {
  readonly message: Fact | Batch;
  /** It must be announced. If not, it may be. */
  readonly sure: boolean;
}

/** A subscription of a hub. What the log announces waits here, held against what was said. */
export class Ear {
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

  /** Brings in all that was said so far. In a remote log marks that were said last tell the end. */
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
      const heard = await this.#tail.next();
      promise(heard.value === message, () => "the log announces otherwise");
      this.waiting.push(message);
    }
    if (this.#sent.length > 0) this.#sent = [];
  }

  async #gatherUntil(marks: Set<string>): Promise<void> {
    while (marks.size > 0) {
      const heard = await this.#tail.next();
      promise(heard.done !== true, () => "the log ends a subscription");
      const message = heard.value;
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
    promise(at >= 0, () => "the log announces what nobody said");
    const before = this.#sent.splice(0, at + 1).slice(0, -1);
    promise(
      before.every(({ sure }) => !sure),
      () => "the log announces in another order",
    );
    this.waiting.push(message);
  }
}

const prefix = "mark ";

/** A fact that is only announced, to tell that all before it has come. */
export function markFact(mark: number, sessionId: SessionId): Fact {
  const id = runId(`${prefix}${mark}`);
  return { v: schemaVersion, n: 1, sessionId, time: 0, type: "run_started", runId: id };
}

/** What `markFact` made, or nothing if this is no mark. */
export function markOf(message: Fact | Batch): string | undefined {
  if (!("n" in message) || message.type !== "run_started") return undefined;
  return message.runId.startsWith(prefix) ? message.runId : undefined;
}

import type { Cause, Ending } from "../content/item.ts";
import type { Usage } from "../content/usage.ts";
import { coalesce } from "../delta/coalesce.ts";
import { partsOf, provenEnding } from "../delta/commit.ts";
import type { Delta } from "../delta/delta.ts";
import { emptyDraft } from "../delta/empty-draft.ts";
import type { Draft, DraftLimits } from "../delta/draft.ts";
import { Folding } from "../delta/folding.ts";
import { MillraceError } from "../errors.ts";
import { redactData } from "../secrets/redact-data.ts";
import type { ModelStream, Reply } from "./model.ts";
import type { ModelResponse } from "./model-response.ts";

/** How a reply is produced. Every adapter and the scripted model are one of these. */
export interface ReplySource {
  readonly model: string;
  readonly signal?: AbortSignal | undefined;
  readonly limits?: DraftLimits | undefined;
  /**
   * Emits deltas in order and returns the ending with its evidence. Must stop soon after the signal
   * is aborted; what it emits from then on is ignored. Throwing ends the reply as failed.
   */
  readonly produce: (writer: ReplyWriter) => Promise<EndedReply>;
}

/** How a reply ended, what it used, and what came with the vendor's answer. */
export type EndedReply = Ending & {
  readonly usage?: Usage | undefined;
  readonly response?: ModelResponse | undefined;
};

/** Where the source of a reply puts its deltas. */
export interface ReplyWriter {
  readonly emit: (delta: Delta) => void;
  /** What has been emitted so far, for writers that commit parts with `commitOf`. */
  readonly draft: () => Draft;
  /** Aborted by the caller, by the consumer leaving, and by a fault in what was emitted. */
  readonly signal: AbortSignal;
}

/** A consumer that falls this far behind gets the deltas it missed merged, never dropped. */
const mergeFrom = 1_024;
/** Merged chunks stop growing here, since each merge copies them. */
const mergedSize = { text: 64 * 1024, bytes: 64 * 1024 };

/**
 * Runs a source and gives both views of it. The source runs at its own pace: a slow consumer, or
 * one that only awaits the result, never holds it up, and what waits for the consumer is merged, so
 * it is bounded by the size of the reply.
 */
export function createModelStream(source: ReplySource): ModelStream {
  const waiting = new WaitingDeltas();
  const stop = new AbortController();
  const abort = (): void => stop.abort();
  if (source.signal?.aborted === true) abort();
  else source.signal?.addEventListener("abort", abort, { once: true });
  const result = produce(source, waiting, stop).finally(() =>
    source.signal?.removeEventListener("abort", abort),
  );
  let consumed = false;
  const consume = (): void => {
    if (consumed) {
      throw new MillraceError("closed", "a model stream has one consumer, and it has had it");
    }
    consumed = true;
  };
  return {
    result,
    forEach: (visit) => {
      consume();
      waiting.pushTo(visit);
      return result;
    },
    [Symbol.asyncIterator]: () => {
      consume();
      const leave = async (): Promise<IteratorResult<Delta, undefined>> => {
        abort();
        return waiting.leave();
      };
      return { next: () => waiting.next(), return: leave };
    },
  };
}

async function produce(
  source: ReplySource,
  waiting: WaitingDeltas,
  stop: AbortController,
): Promise<Reply> {
  const folding = new Folding(emptyDraft(source.limits));
  let ended = false;
  let dropped = false;
  const emit = (delta: Delta): void => {
    if (ended || stop.signal.aborted) {
      dropped = true;
      return;
    }
    if (folding.add(delta)) waiting.add(delta);
    else stop.abort();
  };
  const writer = { emit, draft: () => folding.draft(), signal: stop.signal };
  const outcome = await settle(source, writer);
  const draft = folding.draft();
  ended = true;
  waiting.end();
  const { usage, response, ...ending } = outcome;
  return {
    parts: partsOf(draft),
    model: source.model,
    ...(usage === undefined ? {} : { usage }),
    ...(response === undefined ? {} : { response: redactData(response) }),
    ...redactData(endingOf(draft, ending, stop.signal.aborted && dropped)),
  };
}

/** Deltas that the consumer has not taken yet. None is dropped; many are merged. */
class WaitingDeltas {
  #deltas: Delta[] = [];
  #taken = 0;
  #mergeAbove = mergeFrom;
  #ended = false;
  #pause: PromiseWithResolvers<void> | undefined;
  #visit: ((delta: Delta) => void) | undefined;

  add(delta: Delta): void {
    if (this.#ended) return;
    if (this.#visit !== undefined) return this.#visit(delta);
    if (this.#deltas.length - this.#taken > this.#mergeAbove) {
      this.#deltas = [...coalesce(this.#deltas.slice(this.#taken), mergedSize)];
      this.#taken = 0;
      // Twice as many before the next merge: deltas that do not merge must not be scanned each time.
      this.#mergeAbove = Math.max(mergeFrom, this.#deltas.length * 2);
    }
    this.#deltas.push(delta);
    this.#notify();
  }

  /** From now on nothing waits: what does is handed over now, each later delta as it is added. */
  pushTo(visit: (delta: Delta) => void): void {
    const waiting = this.#deltas.slice(this.#taken);
    this.#deltas = [];
    this.#taken = 0;
    this.#visit = visit;
    for (const delta of waiting) visit(delta);
  }

  end(): void {
    this.#ended = true;
    this.#notify();
  }

  next(): Promise<IteratorResult<Delta, undefined>> {
    // A delta that waits needs no async function, which would cost more than all the rest of this.
    return Promise.resolve(this.#take() ?? this.#wait());
  }

  #take(): IteratorResult<Delta, undefined> | undefined {
    const value = this.#deltas[this.#taken];
    if (value !== undefined) {
      this.#taken += 1;
      return { done: false, value };
    }
    if (this.#ended) return { done: true, value: undefined };
    this.#deltas = [];
    this.#taken = 0;
    return undefined;
  }

  async #wait(): Promise<IteratorResult<Delta, undefined>> {
    for (;;) {
      this.#pause ??= Promise.withResolvers();
      await this.#pause.promise;
      const taken = this.#take();
      if (taken !== undefined) return taken;
    }
  }

  leave(): IteratorResult<Delta, undefined> {
    this.#deltas = [];
    this.end();
    return { done: true, value: undefined };
  }

  #notify(): void {
    this.#pause?.resolve();
    this.#pause = undefined;
  }
}

/**
 * The ending that is true. A fault beats everything. A reply that was whole when the stop arrived
 * stays whole: the race has two outcomes and no third.
 */
function endingOf(draft: Draft, ending: Ending, missed: boolean): Ending {
  if (draft.fault !== undefined) return provenEnding(draft, { stop: "end" });
  return missed ? { stop: "aborted", cause: abortedCause } : provenEnding(draft, ending);
}

/** The source's own ending. */
async function settle(source: ReplySource, writer: ReplyWriter): Promise<EndedReply> {
  const { signal } = writer;
  try {
    await Promise.resolve(); // a consumer that comes in this tick has every delta as it was made
    if (signal.aborted) return { stop: "aborted", cause: abortedCause };
    return await source.produce(writer);
  } catch (error) {
    if (signal.aborted) return { stop: "aborted", cause: abortedCause };
    return { stop: "failed", cause: causeOf(error) };
  }
}

/** The cause of a reply that its caller stopped. */
export const abortedCause: Cause = { code: "aborted", message: "the request was stopped" };

function causeOf(error: unknown): Cause {
  if (MillraceError.is(error)) return { code: error.code, message: error.message };
  const text =
    error instanceof Error ? error.message : typeof error === "string" ? error : undefined;
  return {
    code: "model_failed",
    message: text ?? "the model threw something that is not an error",
  };
}

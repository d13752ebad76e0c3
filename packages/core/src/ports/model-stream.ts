import type { Cause, Ending } from "../content/item.ts";
import type { Usage } from "../content/usage.ts";
import { coalesce } from "../delta/coalesce.ts";
import { partsOf, provenEnding } from "../delta/commit.ts";
import type { Delta } from "../delta/delta.ts";
import { emptyDraft } from "../delta/draft.ts";
import type { Draft, DraftLimits } from "../delta/draft.ts";
import { fold } from "../delta/fold.ts";
import { MillraceError } from "../errors.ts";
import type { ModelStream, Reply } from "./model.ts";

/** How a reply is produced. Every adapter and the scripted model are one of these. */
export interface ReplySource {
  readonly model: string;
  readonly signal?: AbortSignal | undefined;
  readonly limits?: DraftLimits | undefined;
  /**
   * Emits deltas in order and returns the ending with its evidence. Must stop soon after the signal
   * is aborted; what it emits from then on is ignored. Throwing ends the reply as failed.
   */
  readonly produce: (
    writer: ReplyWriter,
  ) => Promise<Ending & { readonly usage?: Usage | undefined }>;
}

export interface ReplyWriter {
  readonly emit: (delta: Delta) => void;
  /** What has been emitted so far, for writers that commit parts with `commitOf`. */
  readonly draft: () => Draft;
  /** Aborted by the caller, by the consumer leaving, and by a fault in what was emitted. */
  readonly signal: AbortSignal;
}

/** A consumer that falls this far behind gets the deltas it missed merged, never dropped. */
const mergeAbove = 1_024;

/**
 * Runs a source and gives both views of it. The source runs at its own pace: a slow consumer, or
 * one that only awaits the result, never holds it up, and what waits for the consumer is merged, so
 * it is bounded by the size of the reply.
 */
export function createModelStream(source: ReplySource): ModelStream {
  const stop = new AbortController();
  let draft = emptyDraft(source.limits);
  let waiting: readonly Delta[] | Delta[] = [];
  let ended = false;
  let dropped = false;
  let taken = false;
  let wake: (() => void) | undefined;

  const notify = (): void => {
    wake?.();
    wake = undefined;
  };
  const emit = (delta: Delta): void => {
    if (ended || stop.signal.aborted) {
      dropped = true;
      return;
    }
    draft = fold(draft, delta);
    if (draft.fault !== undefined) {
      stop.abort();
      return;
    }
    const queue = waiting.length > mergeAbove ? [...coalesce(waiting)] : (waiting as Delta[]);
    queue.push(delta);
    waiting = queue;
    notify();
  };

  const run = async (): Promise<Reply> => {
    const outcome = await settle(source, { emit, draft: () => draft, signal: stop.signal });
    ended = true;
    notify();
    const { usage, ...ending } = outcome;
    return {
      parts: partsOf(draft),
      model: source.model,
      ...(usage === undefined ? {} : { usage }),
      ...endingOf(draft, ending, stop.signal.aborted && dropped),
    };
  };

  const abort = (): void => stop.abort();
  if (source.signal?.aborted === true) abort();
  else source.signal?.addEventListener("abort", abort, { once: true });
  const result = run().finally(() => source.signal?.removeEventListener("abort", abort));

  async function* deltas(): AsyncGenerator<Delta, void, undefined> {
    try {
      for (;;) {
        const ready = waiting;
        waiting = [];
        yield* ready;
        if (waiting.length > 0) continue;
        if (ended) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      stop.abort(); // a consumer that leaves ends the request; at the natural end this does nothing
    }
  }

  return {
    result,
    [Symbol.asyncIterator]: () => {
      if (taken)
        throw new MillraceError(
          "closed",
          "a model stream has one consumer, and this one has had it",
        );
      taken = true;
      return deltas();
    },
  };
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
async function settle(
  source: ReplySource,
  writer: ReplyWriter,
): Promise<Ending & { readonly usage?: Usage | undefined }> {
  const { signal } = writer;
  try {
    if (signal.aborted) return { stop: "aborted", cause: abortedCause };
    return await source.produce(writer);
  } catch (error) {
    if (signal.aborted) return { stop: "aborted", cause: abortedCause };
    return { stop: "failed", cause: causeOf(error) };
  }
}

export const abortedCause: Cause = { code: "aborted", message: "the request was stopped" };

function causeOf(error: unknown): Cause {
  if (MillraceError.is(error)) return { code: error.code, message: error.message };
  return { code: "model_failed", message: error instanceof Error ? error.message : String(error) };
}

import type { Model } from "@millrace/core";
import { createModelStream } from "@millrace/core/model";
import type { ReplyWriter } from "@millrace/core/model";
import type { ModelRequest, Reply } from "@millrace/core/ports";

/**
 * Holds a model in the midst of a reply, or a tool in the midst of its work: what a page shows for a moment stays
 * there until a test has looked at it, however slow the machine is.
 */
export interface Holds {
  /**
   * Holds the next reply that has come to this text, or the next tool that comes to this place. The result lets it
   * go on. A stop ends the wait too.
   */
  readonly holdAt: (place: string) => () => void;
  /** The model, with its replies held. */
  readonly holdable: (model: Model) => Model;
  /** Waits if a hold is set for this place. */
  readonly pass: (place: string, signal: AbortSignal) => Promise<void>;
  /** Waited for after each piece of text, with the text of the reply so far. */
  afterText: ((written: string) => Promise<void>) | undefined;
}

interface Hold {
  readonly place: string;
  readonly released: Promise<void>;
}

/** Makes holds, none of which is set. */
export function createHolds(): Holds {
  const set: Hold[] = [];
  const wait = async (isHere: (place: string) => boolean, signal: AbortSignal): Promise<void> => {
    const at = set.findIndex(({ place }) => isHere(place));
    const [hold] = at < 0 ? [] : set.splice(at, 1);
    if (hold !== undefined) await Promise.race([hold.released, aborted(signal)]);
  };
  const copy = async (
    { stream }: Model,
    request: ModelRequest,
    { emit, signal }: ReplyWriter,
  ): Promise<Reply> => {
    const reply = stream(request);
    let written = "";
    for await (const delta of reply) {
      emit(delta);
      if (delta.op !== "append_text") continue;
      written += delta.chunk;
      await holds.afterText?.(written);
      await wait((place) => written.includes(place), signal);
    }
    return await reply.result;
  };
  const holds: Holds = {
    holdAt: (place) => {
      const { promise: released, resolve } = Promise.withResolvers<void>();
      set.push({ place, released });
      return resolve;
    },
    holdable: (model) => ({
      id: model.id,
      stream: (request) =>
        createModelStream({
          model: model.id,
          signal: request.signal,
          produce: (writer) => copy(model, request, writer),
        }),
    }),
    pass: (place, signal) => wait((each) => each === place, signal),
    afterText: undefined,
  };
  return holds;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

import { wholeText } from "@millrace/core/writing";
import type { Delta, Item } from "@millrace/core";
import type { Ending } from "@millrace/core/writing";
import type { ItemWriter } from "../../definition/settings.ts";
import { AgentFailure, causeOf } from "./failure.ts";
import { OwnItem, stopped } from "./own-item.ts";
import type { Places } from "./places.ts";
import { firstPart } from "./replacement.ts";

/**
 * One item written by a function: returning commits it, throwing ends it as failed with what came,
 * and the error goes on to the caller. A replacement is stored when it is made, and stays whatever
 * the function does afterwards.
 */
export async function writeByHand(
  places: Places,
  write: (item: ItemWriter) => void | Promise<void>,
): Promise<Item> {
  const item = await OwnItem.open(places, "agent");
  const { writer, finish } = writerOf(item);
  let thrown: { readonly error: unknown } | undefined;
  try {
    if (!item.isStored) await write(writer);
  } catch (error) {
    thrown = { error };
  }
  const stored = await finish(endingOf(places.at.signal, thrown));
  // An illegal update ends the item also if its writer caught the error.
  if (thrown === undefined && item.failure !== undefined) throw item.failure;
  if (thrown !== undefined) throw thrown.error;
  return stored;
}

interface Writing {
  readonly writer: ItemWriter;
  /** Stores the item, unless it was replaced. Nothing is written after it. */
  readonly finish: (ending: Ending) => Promise<Item>;
}

/** All text is one part. */
function writerOf(item: OwnItem): Writing {
  let held = "";
  /** The item as it is stored, from the moment at which nothing can be written to it any more. */
  let ended: Promise<Item> | undefined;
  const write = (delta: Delta): void => {
    const failure = item.write(delta);
    if (failure !== undefined) throw failure;
  };
  return {
    writer: {
      append: (text) => {
        if (ended !== undefined) return;
        const whole = wholeText(held, text);
        held = whole.held;
        // A half character waits for its other half.
        if (whole.text !== "" || text === "") write(appendOf(whole.text));
      },
      annotate: (metadata) => {
        if (ended === undefined) write({ op: "set_metadata", partId: firstPart, metadata });
      },
      replace: (content, metadata) => {
        ended ??= item.replace({ content, metadata });
        ended.catch(() => undefined); // `finish` waits for it; the function that writes need not
        return ended;
      },
    },
    finish: (ending) => {
      if (ended === undefined && held !== "") item.write(appendOf(held));
      ended ??= item.commit(ending);
      ended = ended.catch(async (error: unknown) => {
        // An illegal replacement is not stored: the item ends as failed, with what was streamed.
        if (error instanceof AgentFailure) return await item.commit(ending);
        throw error;
      });
      return ended;
    },
  };
}

function endingOf(signal: AbortSignal, thrown: { readonly error: unknown } | undefined): Ending {
  if (signal.aborted) return stopped;
  if (thrown !== undefined) return { stop: "failed", cause: causeOf(thrown.error) };
  return { stop: "end" };
}

function appendOf(chunk: string): Delta {
  return { op: "append_text", partId: firstPart, chunk: chunk.toWellFormed() };
}

import { wholeText } from "@millrace/core/writing";
import type { Delta, Item } from "@millrace/core";
import type { Ending } from "@millrace/core/writing";
import type { ItemWriter } from "../../definition/settings.ts";
import { AgentFailure, causeOf } from "./failure.ts";
import { OwnItem, stopped } from "./own-item.ts";
import type { ItemSlots } from "./item-slots.ts";
import { firstPart } from "./replacement.ts";

/**
 * Writes one item by the agent's function. Returning commits the item. Throwing stores the content so
 * far as failed, and the error is thrown to the caller. A replacement is stored at once and stays,
 * whatever the function does afterwards.
 */
export async function writeByHand(
  slots: ItemSlots,
  write: (item: ItemWriter) => void | Promise<void>,
): Promise<Item> {
  const item = await OwnItem.open(slots, "agent");
  const { writer, finish } = writerOf(item);
  let thrown: { readonly error: unknown } | undefined;
  try {
    if (!item.isStored) await write(writer);
  } catch (error) {
    thrown = { error };
  }
  const stored = await finish(endingOf(slots.at.signal, thrown));
  // An illegal update fails the item, also if the function caught the error.
  if (thrown === undefined && item.failure !== undefined) throw item.failure;
  if (thrown !== undefined) throw thrown.error;
  return stored;
}

interface Writing {
  readonly writer: ItemWriter;
  /** Stores the item unless it was replaced. Later writes are ignored. */
  readonly finish: (ending: Ending) => Promise<Item>;
}

/** The writer that the agent's function gets. All its text goes into one part. */
function writerOf(item: OwnItem): Writing {
  let held = "";
  /** The stored item. Set as soon as the item takes no more writes. */
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
        // Half of a surrogate pair is kept until its other half is appended.
        if (whole.text !== "" || text === "") write(appendOf(whole.text));
      },
      annotate: (metadata) => {
        if (ended === undefined) write({ op: "set_metadata", partId: firstPart, metadata });
      },
      replace: (content, metadata) => {
        ended ??= item.replace({ content, metadata });
        ended.catch(() => undefined); // `finish` handles the rejection
        return ended;
      },
    },
    finish: (ending) => {
      if (ended === undefined && held !== "") item.write(appendOf(held));
      ended ??= item.commit(ending);
      ended = ended.catch(async (error: unknown) => {
        // An illegal replacement is not stored: commit the streamed content as failed.
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

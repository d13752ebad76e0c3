import { MillraceError } from "@millrace/core";
import { commitDraft, commitOf, partId, wholeText } from "@millrace/core/writing";
import { abortedCause } from "@millrace/core/ports";
import { isWellFormed } from "@millrace/core/wire";
import type { Item, TextPart } from "@millrace/core";
import type { Ending } from "@millrace/core/writing";
import type { ItemWriter } from "../../definition/settings.ts";
import { isLane, openItemLane } from "../item-lane.ts";
import type { ItemLane } from "../item-lane.ts";
import { Fenced } from "../host.ts";
import { causeOf } from "./places.ts";
import type { Places } from "./places.ts";

/**
 * One item written by a function: returning commits it, throwing ends it as failed with what came,
 * and the error goes on to the caller.
 */
export async function writeByHand(
  places: Places,
  write: (item: ItemWriter) => void | Promise<void>,
): Promise<Item> {
  const { host, epochs, at } = places;
  const { itemId, lane } = places.take();
  const { runId, turnId, signal } = at;
  const place = { runId, turnId, itemId, lane, epoch: epochs.next(), author: "agent" } as const;
  const opened = await openItemLane(host, place);
  if (!isLane(opened)) {
    places.done(lane, opened);
    // What was thrown before a crash is thrown again, so that the agent's code takes the same way.
    if (opened.stop === "failed") throw new MillraceError("agent_failed", opened.cause.message);
    return opened;
  }
  const hand = handOf(opened);
  let thrown: { readonly error: unknown } | undefined;
  try {
    await write(hand.writer);
  } catch (error) {
    thrown = { error };
  }
  if (signal.reason instanceof Fenced) {
    await opened.drop();
    throw signal.reason;
  }
  const ending = endingOf(signal, thrown);
  const item = hand.finish({ id: itemId, author: "agent" }, ending);
  const stored = await opened.commit(item.item, { type: item.type });
  places.done(lane, stored);
  if (thrown !== undefined) throw thrown.error;
  return stored;
}

interface Hand {
  readonly writer: ItemWriter;
  readonly finish: (
    head: Pick<Item, "id" | "author">,
    ending: Ending,
  ) => { readonly type: "item_committed" | "item_replaced"; readonly item: Item };
}

/** The text is one part, begun with the first of it. Nothing is written after the end. */
function handOf(lane: ItemLane): Hand {
  const id = partId("p1");
  let begun = false;
  let ended = false;
  let held = "";
  let replaced: string | undefined;
  const begin = (): void => {
    if (!begun) lane.write({ op: "begin_part", partId: id, kind: "text" });
    begun = true;
  };
  return {
    writer: {
      append: (text) => {
        if (ended || replaced !== undefined) return;
        begin();
        const whole = wholeText(held, text);
        held = whole.held;
        if (whole.text !== "") lane.write({ op: "append_text", partId: id, chunk: whole.text });
      },
      annotate: (metadata) => {
        if (ended || replaced !== undefined) return;
        begin();
        lane.write({ op: "set_metadata", partId: id, metadata });
      },
      replace: (full) => {
        if (!ended) replaced ??= full;
      },
    },
    finish: (head, ending) => {
      ended = true;
      if (replaced !== undefined) {
        const text = isWellFormed(replaced) ? replaced : replaced.toWellFormed();
        const part: TextPart = { kind: "text", id, text };
        return { type: "item_replaced", item: { ...head, parts: [part], ...ending } };
      }
      const commit = begun ? commitOf(lane.draft(), id) : undefined;
      if (commit !== undefined) lane.write(commit);
      return { type: "item_committed", item: commitDraft(lane.draft(), head, ending) };
    },
  };
}

function endingOf(signal: AbortSignal, thrown: { readonly error: unknown } | undefined): Ending {
  if (signal.aborted) return { stop: "aborted", cause: abortedCause };
  if (thrown !== undefined) return { stop: "failed", cause: causeOf(thrown.error) };
  return { stop: "end" };
}

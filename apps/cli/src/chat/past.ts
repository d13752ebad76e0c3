import type { Item, RunEvent } from "@millrace/core";
import type { Past } from "../session/chat-session.ts";
import type { NarrationPrinter } from "../display/narration-printer.ts";

const shownItems = 12;

/** The items that no buffered event will show: those from before the session was opened here. */
export function itemsBefore(items: readonly Item[], events: readonly RunEvent[]): readonly Item[] {
  const eventItems = new Set(
    events.flatMap((event) => (event.type === "item_committed" ? [event.item.id] : [])),
  );
  return items.filter(({ id }) => !eventItems.has(id));
}

/** Shows the end of a session that is taken up again, and where it was interrupted. */
export function showPast(
  printer: NarrationPrinter,
  {
    past: { items, earlier } = { items: [], earlier: 0 },
    interrupted,
  }: { readonly past?: Past | undefined; readonly interrupted: boolean },
): void {
  const left = earlier + Math.max(0, items.length - shownItems);
  if (left > 0) printer.note(`(${left} items before)`);
  for (const item of items.slice(-shownItems)) {
    printer.item(item);
    const ending = endingOf(item);
    if (ending !== undefined) printer.note(ending, "bad");
  }
  if (interrupted) {
    printer.note("the run was interrupted here, before it was done", "bad");
  }
}

/** A notice below a reply that was cut short. */
function endingOf({ author, stop, cause }: Item): string | undefined {
  if (author === "user" || author === "tool") return undefined;
  switch (stop) {
    case "aborted":
      return "— it was stopped here —";
    case "failed":
    case "truncated":
      return `— it broke off here${cause === undefined ? "" : ` (${cause.code})`} —`;
    default:
      return undefined;
  }
}

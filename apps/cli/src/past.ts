import type { Item, RunEvent } from "@millrace/core";
import type { Story } from "./story.ts";

const shownItems = 12;

/** The items from before the session was opened here: those after it will be told as they happened. */
export function itemsBefore(items: readonly Item[], events: readonly RunEvent[]): readonly Item[] {
  const told = new Set(
    events.flatMap((event) => (event.type === "item_committed" ? [event.item.id] : [])),
  );
  return items.filter(({ id }) => !told.has(id));
}

/** Shows the end of a session that is taken up again, and where it was interrupted. */
export function showPast(
  story: Story,
  items: readonly Item[],
  session: { readonly interrupted: boolean },
): void {
  const left = items.length - shownItems;
  if (left > 0) story.note(`(${left} items before)`);
  for (const item of items.slice(-shownItems)) {
    story.item(item);
    const ending = endingOf(item);
    if (ending !== undefined) story.note(ending, "bad");
  }
  if (session.interrupted) {
    story.note("the run was interrupted here, before it was done; it goes on now", "bad");
  }
}

/** Where a reply was cut short, so that one sees where it was. */
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

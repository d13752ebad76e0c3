import type { ClientView } from "@millrace/client";

/** The text on a screen: of all parts of all items, in order. */
export function textOf({ items }: Pick<ClientView, "items">): string {
  return items
    .flatMap(({ parts }) => parts)
    .map((part) => (part.kind === "text" ? part.text : ""))
    .join("|");
}

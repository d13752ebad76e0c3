import type { Narration } from "@millrace/core";

/** Between the texts of two items, and before a text that is written anew. */
const separator = "\n\n";

/**
 * The text of a run's narration, piece by piece. `finish` is called after the last piece and throws for a
 * run that did not complete.
 */
export async function* textsOf(
  narrations: AsyncIterable<Narration>,
  finish: () => Promise<void>,
): AsyncGenerator<string, void> {
  /** The item and attempt whose text came last. */
  let last: string | undefined;
  let attempt = 0;
  const piece = (itemId: string, text: string): string => {
    const writer = `${itemId} ${attempt}`;
    const begins = last !== undefined && last !== writer;
    last = writer;
    return begins ? `${separator}${text}` : text;
  };
  for await (const narration of narrations) {
    if (narration.type === "assistant_text_delta") {
      if (narration.text !== "") yield piece(narration.itemId, narration.text);
    } else if (narration.type === "attempt_superseded") {
      attempt += 1;
    } else if (narration.type === "item_replaced") {
      attempt += 1;
      const text = narration.item.parts.map((part) => (part.kind === "text" ? part.text : ""));
      const isAnswer = narration.item.author === "model" || narration.item.author === "agent";
      if (isAnswer && text.some((each) => each !== ""))
        yield piece(narration.item.id, text.join(""));
    }
  }
  await finish();
}

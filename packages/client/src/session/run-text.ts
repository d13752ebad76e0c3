import { textOf } from "@millrace/core";
import type { Item, RunId, SessionState } from "@millrace/core";

/** Between the texts of two items, and before a text that is written anew. */
const separator = "\n\n";

/** The text of a run, taken from states: also from a snapshot that came in the middle of it. */
export class RunText {
  readonly #runId: RunId;
  readonly #promptId: string;
  /** By item, in the order in which they came. */
  readonly #written = new Map<string, string>();

  constructor(runId: RunId) {
    this.#runId = runId;
    this.#promptId = runId.replace(/^run_/, "item_"); // as the server makes it
  }

  /** What is new. A state of another run has nothing, unless it is the first after the end of this one. */
  *take(state: SessionState | undefined, isLast = false): Generator<string, void> {
    if (state === undefined || (state.run?.runId !== this.#runId && !isLast)) return;
    const rows = state.items.toArray();
    const first = rows.findLastIndex(({ id }) => id === this.#promptId) + 1;
    const summaries = new Set<string>(state.compactions.map(({ itemId }) => itemId));
    for (const item of rows.slice(first)) {
      if (isAnswer(item) && !summaries.has(item.id)) yield* this.#add(item.id, itemText(item));
    }
    for (const { runId, itemId, author, callId, draft } of state.lanes) {
      const isSummary = state.compacting && author === "agent";
      if (runId !== this.#runId || callId !== undefined || isSummary) continue;
      const texts = draft.parts.map((part) => {
        if (part.state !== "open") return part.part.kind === "text" ? part.part.text : "";
        return part.begin.kind === "text" ? textOf(part) : "";
      });
      yield* this.#add(itemId, texts.join(""));
    }
  }

  /** What the last item has that no state showed. */
  *end(text: string): Generator<string, void> {
    const [id = "", last] = [...this.#written].at(-1) ?? [];
    if (text !== "" && text !== last) yield* this.#add(text.startsWith(last ?? "") ? id : "", text);
  }

  *#add(id: string, text: string): Generator<string, void> {
    const before = this.#written.get(id) ?? "";
    if (text === "" || text === before) return;
    const isFirst = this.#written.size === 0;
    const grows = text.startsWith(before) && before !== "";
    this.#written.set(id, text);
    yield grows ? text.slice(before.length) : `${isFirst ? "" : separator}${text}`;
  }
}

function isAnswer({ author }: Item): boolean {
  return author === "model" || author === "agent";
}

function itemText({ parts }: Item): string {
  return parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

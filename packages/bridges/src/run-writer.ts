import { emptyDraft, fold } from "@millrace/core";
import type { Cause, Delta, Draft, Usage } from "@millrace/core";
import type { Ending, Update } from "@millrace/core/writing";
import { PartWriter } from "./part-writer.ts";

/**
 * Writes the items of another framework's run, one after the other. An illegal delta is never
 * passed on; its item ends as failed instead.
 */
export class RunWriter {
  #draft: Draft = emptyDraft();
  #parts: PartWriter | undefined;
  #updates: Update[] = [];

  /** The parts of the current item. The first access begins the item. */
  get parts(): PartWriter {
    this.#parts ??= this.#open();
    return this.#parts;
  }

  /** True if something was written since the last commit. */
  get isOpen(): boolean {
    return this.#parts !== undefined;
  }

  /** Commits the current item, or an empty one if nothing was written. */
  commit(
    ending: Ending,
    more: { readonly usage?: Usage | undefined; readonly model?: string | undefined } = {},
  ): void {
    const { usage, ...proven } = this.parts.end({
      ending,
      ...(more.usage === undefined ? {} : { usage: more.usage }),
    });
    this.#updates.push({
      op: "commit_item",
      ...proven,
      ...(usage === undefined ? {} : { usage }),
      ...(more.model === undefined ? {} : { model: more.model }),
    });
    this.#parts = undefined;
    this.#draft = emptyDraft();
  }

  /** Returns the updates since the last call. */
  take(): readonly Update[] {
    const updates = this.#updates;
    if (updates.length > 0) this.#updates = [];
    return updates;
  }

  #open(): PartWriter {
    const parts: PartWriter = new PartWriter({
      draft: () => this.#draft,
      emit: (delta) => this.#emit(delta, parts),
    });
    return parts;
  }

  #emit(delta: Delta, parts: PartWriter): void {
    const next = fold(this.#draft, delta);
    if (next.fault === undefined) {
      this.#draft = next;
      this.#updates.push(delta);
    } else parts.fail(faultCause(next.fault));
  }
}

function faultCause({ code, message, partId }: NonNullable<Draft["fault"]>): Cause {
  return { code, message: `part ${partId}: ${message}` };
}

import type { PartId } from "../ids.ts";
import { isWellFormed } from "../text.ts";
import type { AppendText, Delta } from "./delta.ts";
import { textLength } from "./draft.ts";
import type { Draft, OpenPart } from "./draft.ts";
import { appended, fold, tailLength } from "./fold.ts";
import { findPart, textLimit, verifyAt } from "./verify.ts";

/** Appends to one part that are not in the draft yet. */
interface TextRun {
  readonly partId: PartId;
  /** Where the part stands in the draft. */
  readonly at: number;
  part: OpenPart;
  /** The tail of the part, with the appends. */
  tail: string;
  /** How much more text the part may hold. */
  room: number;
}

/**
 * Folds deltas one at a time for a writer that reads its draft seldom. Equal to `fold` after each
 * delta: every append is verified when it comes, and only the copies of the draft that `fold` makes
 * for it are left out, until the draft is read. Those cost more than the append itself.
 */
export class Folding {
  #draft: Draft;
  readonly #runs = new Map<PartId, TextRun>();
  #last: TextRun | undefined;

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  /** Folds a delta. Returns false if it is illegal: the draft then has a fault, and stays as it is. */
  add(delta: Delta): boolean {
    if (delta.op === "append_text" && this.#append(delta)) return true;
    this.#draft = fold(this.draft(), delta);
    return this.#draft.fault === undefined;
  }

  draft(): Draft {
    if (this.#runs.size === 0) return this.#draft;
    const parts = this.#draft.parts.slice();
    for (const { at, part, tail } of this.#runs.values()) parts[at] = appended(part, tail);
    this.#runs.clear();
    this.#last = undefined;
    this.#draft = { ...this.#draft, parts };
    return this.#draft;
  }

  /** Adds to the run of a part. Returns false if there is no part for it, or the append is illegal. */
  #append(delta: AppendText): boolean {
    const { partId, chunk } = delta;
    const run = this.#last?.partId === partId ? this.#last : this.#runOf(delta);
    if (run === undefined || chunk.length > run.room || !isWellFormed(chunk)) return false;
    this.#last = run;
    run.room -= chunk.length;
    run.tail += chunk;
    if (run.tail.length < tailLength) return true;
    run.part = appended(run.part, run.tail);
    run.tail = run.part.tail;
    return true;
  }

  #runOf(delta: AppendText): TextRun | undefined {
    const { partId } = delta;
    const known = this.#runs.get(partId);
    const draft = this.#draft;
    if (known !== undefined || draft.fault !== undefined) return known;
    const at = findPart(draft.parts, partId);
    const part = draft.parts[at];
    if (part?.state !== "open" || verifyAt(draft, part, delta) !== undefined) return undefined;
    const room = textLimit(draft, part) - textLength(part);
    const run = { partId, at, part, tail: part.tail, room };
    this.#runs.set(partId, run);
    return run;
  }
}

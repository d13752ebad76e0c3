/** What it constructs is its argument, so that the field below becomes one of the target. */
const ReturnTarget = function returnTarget(target: object): object {
  return target;
} as unknown as new (target: object) => object; // a function that is called with `new`

/**
 * A private field of an object that others made: no copy, comparison or encoding of it shows the field. A
 * weak map would do the same, but drafts and their views are made for every delta, and collecting their
 * entries took more time than all the rest of a view. An object takes one note, once.
 */
class Note extends ReturnTarget {
  readonly #note: unknown;

  constructor(target: object, note: unknown) {
    super(target);
    this.#note = note;
  }

  static of(target: object): unknown {
    return #note in target ? target.#note : undefined;
  }
}

/** Puts a note on an object that has none. */
export function putNote(target: object, note: unknown): void {
  void new Note(target, note);
}

/** The note of an object. Undefined for a copy of one. */
export function noteOf(target: object): unknown {
  return Note.of(target);
}

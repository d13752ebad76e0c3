import type { FilePart, MediaPart } from "@millrace/core";

/** A text that is in one place of a request alone, and what it was put into. */
export interface Mark {
  readonly text: string;
  /** What is lost if the mark is. */
  readonly where: string;
  /** The file or media that holds it. Undefined for other parts, for tools and for instructions. */
  readonly part?: MediaPart | FilePart;
}

/** Makes marks. Each is different from all others, also as a part of another text. */
export class Marks {
  readonly all: Mark[] = [];
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** A new mark: letters and digits only, so that no escape changes it. */
  make(where: string): string {
    const text = `mk${this.#seed}x${this.all.length}q`;
    this.all.push({ text, where });
    return text;
  }

  /** Names the part that holds the marks from `first` on. */
  belongTo(part: MediaPart | FilePart, first: number): void {
    for (let at = first; at < this.all.length; at += 1) {
      const mark = this.all[at];
      if (mark !== undefined) this.all[at] = { ...mark, part };
    }
  }
}

/**
 * The marks that are nowhere in a body. Looks into every text and key of the JSON, and into the bytes
 * of every text that is base64 or a `data:` URL. Knows nothing of any vendor's format.
 */
export function missingMarks(body: unknown, marks: readonly Mark[]): readonly Mark[] {
  const found: string[] = [];
  collect(body, found);
  const all = found.join("\n");
  return marks.filter(({ text }) => !all.includes(text));
}

function collect(value: unknown, found: string[]): void {
  if (typeof value === "string") {
    found.push(value);
    const data = value.replace(/^data:[^,]*;base64,/, "");
    const isBase64 = data.length % 4 === 0 && /^[A-Za-z0-9+/]{8,}={0,2}$/.test(data);
    if (isBase64) found.push(Buffer.from(data, "base64").toString("latin1"));
  } else if (typeof value === "object" && value !== null) {
    for (const [key, each] of Object.entries(value)) {
      found.push(key);
      collect(each, found);
    }
  }
}

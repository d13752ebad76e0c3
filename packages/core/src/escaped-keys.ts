import { readJson } from "./parse-json.ts";

/** Respells the keys of a text that are spelled with an escape, which the engine may confuse: see `parseJsonText`. */
export class EscapedKeys {
  /** Whether JSON can't spell one of them without an escape. */
  areNeeded = false;
  readonly #text: string;
  /** The text so far, with its keys respelled. */
  readonly #pieces: string[] = [];
  #end = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Takes the keys in their order. `start` and `end`: where one stands, with its quotes. */
  add(key: string, start: number, end: number): void {
    const spelled = JSON.stringify(key);
    this.areNeeded ||= spelled.includes("\\");
    if (!this.areNeeded) this.#pieces.push(this.#text.slice(this.#end, start), spelled);
    this.#end = end;
  }

  /**
   * The value of the text, which is known to be JSON. The engine gets it with its keys respelled, and is many
   * times as fast. A text with a key that needs its escape is read without the engine.
   */
  parse(): unknown {
    if (this.areNeeded) return readJson(this.#text);
    return JSON.parse(this.#pieces.join("") + this.#text.slice(this.#end));
  }
}

import type { Json, JsonObject } from "@millrace/core";
import type { Random } from "../../../../../tests/kit/random.ts";

type Spelling = "plain" | "ascii" | "lines" | "spaced" | "keys";

const encoder = new TextEncoder();

/** Writes events in the variants that the grammar allows. Each stream draws its own. */
export class SseWriter {
  readonly #random: Random;
  readonly #ends: readonly string[];
  readonly #data: string;
  readonly #spelling: Spelling;
  readonly #keepAlives: number;
  readonly #eventLast: boolean;
  #out: string;
  #lastEnd = "";

  constructor(random: Random) {
    this.#random = random;
    const ends = random.next();
    this.#ends =
      ends < 0.7 ? ["\n"] : ends < 0.85 ? ["\r\n"] : ends < 0.93 ? ["\r"] : ["\n", "\r\n", "\r"];
    this.#data = random.chance(0.8) ? "data: " : "data:";
    const spelling = random.next();
    this.#spelling =
      spelling < 0.8
        ? "plain"
        : spelling < 0.88
          ? "ascii"
          : spelling < 0.92
            ? "lines"
            : spelling < 0.96
              ? "spaced"
              : "keys";
    this.#keepAlives = random.chance(0.2) ? 0.15 : 0;
    this.#eventLast = random.chance(0.05);
    this.#out = random.chance(0.05) ? "\uFEFF" : "";
    if (random.chance(0.05)) this.#line("retry: 3000");
  }

  /** `name` is the `event:` field; undefined omits it. */
  event(data: JsonObject | string, name?: Json): void {
    if (this.#keepAlives > 0 && this.#random.chance(this.#keepAlives)) this.#keepAlive();
    if (typeof name === "string" && !this.#eventLast) this.#line(`event: ${name}`);
    const text = typeof data === "string" ? data : this.#spell(data);
    if (text.includes("\n")) for (const row of text.split("\n")) this.#line(this.#data + row);
    else this.#line(this.#data + text);
    if (typeof name === "string" && this.#eventLast) this.#line(`event: ${name}`);
    this.#line("");
  }

  comment(text: string): void {
    this.#line(`: ${text}`);
    this.#line("");
  }

  /** The bytes. A server may omit the last blank line. */
  bytes(): Uint8Array {
    const end = /(?:\r\n|\n|\r)$/;
    let text = this.#out;
    if (this.#random.chance(0.05)) text = text.replace(end, "");
    if (this.#random.chance(0.03)) text = text.replace(end, "");
    return encoder.encode(text);
  }

  #keepAlive(): void {
    const draw = this.#random.below(3);
    if (draw === 0) this.comment("keep-alive");
    else if (draw === 1) this.#line(":");
    else this.#line(`id: ${this.#out.length}`);
  }

  #line(text: string): void {
    let end = this.#ends.length === 1 ? (this.#ends[0] as string) : this.#random.pick(this.#ends);
    // A CR of one line and the LF of an empty next one would be a single line end.
    if (text === "" && this.#lastEnd === "\r" && end === "\n") end = "\r\n";
    this.#lastEnd = end;
    this.#out += text + end;
  }

  #spell(data: Json): string {
    switch (this.#spelling) {
      case "ascii":
        return JSON.stringify(data).replaceAll(/[^\0-~]/g, escaped);
      case "lines":
        return JSON.stringify(data, null, 1);
      case "spaced":
        return JSON.stringify(data, null, 1)
          .replaceAll("\n", " ")
          .replaceAll("/", String.raw`\/`);
      case "keys":
        return JSON.stringify(data).replaceAll('e":', String.raw`\u0065":`);
      default:
        return JSON.stringify(data);
    }
  }
}

function escaped(unit: string): string {
  return String.raw`\u` + unit.charCodeAt(0).toString(16).padStart(4, "0");
}

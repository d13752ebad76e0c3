import type { Json } from "@millrace/core";

/** One case as data: what an implementation is given, and what it must answer. */
export interface Vector {
  readonly suite: string;
  /** The file that it stands in. */
  readonly topic: string;
  /** A sentence that is true of every right implementation. Unique within its suite. */
  readonly name: string;
  readonly input: Json;
  readonly expect: Json;
}

/** Whoever is held to the vectors: this package's own code, or a program in another language. */
export interface Implementation {
  readonly answer: (suite: string, input: Json) => Promise<Json>;
}

export interface VectorResult {
  readonly suite: string;
  readonly name: string;
  readonly ok: boolean;
  readonly expected: Json;
  /** What was answered; `{ "threw": message }` if there was no answer. */
  readonly actual: Json;
}

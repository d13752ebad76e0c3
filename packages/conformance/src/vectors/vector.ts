import type { Json } from "@millrace/core";

/** One case as data: the input of an implementation, and its expected answer. */
export interface Vector {
  readonly suite: string;
  /** A sentence that is true of every correct implementation. Unique within its suite. */
  readonly name: string;
  readonly input: Json;
  readonly expect: Json;
}

/** An implementation under test: this repository's code, or a program in another language. */
export interface Implementation {
  readonly answer: (suite: string, input: Json) => Promise<Json>;
}

export interface VectorResult {
  readonly suite: string;
  readonly name: string;
  readonly ok: boolean;
  readonly expected: Json;
  /** The answer; `{ "threw": message }` if there was none. */
  readonly actual: Json;
}

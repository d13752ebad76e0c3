import type { Fact } from "@millrace/core";
import { encodeEntry, encodeHeader } from "./line.ts";
import type { Entry, Header } from "./line.ts";
import type { Summary } from "./summary.ts";

/** Facts in one line of a copy. Bounded, so that no line grows with the session. */
const factsPerLine = 64;

/** The facts with which a file begins: of its first input, of another session, or of an export. */
export interface FirstFacts {
  readonly call: Entry["call"];
  readonly facts: readonly Fact[];
  /** Of the first fact. */
  readonly key?: string | undefined;
  /** After all of them. */
  readonly summary?: Summary | undefined;
}

/** The lines of a new session's file. */
export function* encodeSession(
  header: Header,
  { call, facts, key, summary }: FirstFacts,
): Generator<Buffer, void, undefined> {
  let { bytes, hash } = encodeHeader(header);
  yield bytes;
  let incarnation = 0;
  for (let from = 0; from < facts.length; from += factsPerLine) {
    const some = facts.slice(from, from + factsPerLine);
    for (const fact of some) {
      if (fact.type === "session_claimed") ({ incarnation } = fact);
    }
    const head = from + some.length;
    const entry = { call, facts: some, head, incarnation };
    const first = from === 0 ? { key } : {};
    const last = head === facts.length ? { summary } : {};
    ({ bytes, hash } = encodeEntry(hash, { ...entry, ...first, ...last }));
    yield bytes;
  }
}

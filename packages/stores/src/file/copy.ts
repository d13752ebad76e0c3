import type { Fact } from "@millrace/core";
import { encodeEntry, encodeHeader } from "./line.ts";
import type { Entry, Header } from "./line.ts";

/** Facts in one line of a copy. Bounded, so that no line grows with the session. */
const factsPerLine = 64;

/** The lines of a file that begins with facts of another session or an export. */
export function* encodeSession(
  header: Header,
  call: Entry["call"],
  facts: readonly Fact[],
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
    ({ bytes, hash } = encodeEntry(hash, { call, facts: some, head, incarnation }));
    yield bytes;
  }
}

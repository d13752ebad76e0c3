import { equalJson, parseJson } from "@millrace/core/wire";
import { parseArguments } from "@millrace/core/writing";
import type { Json, JsonObject, PartId } from "@millrace/core";
import type { Closing, PartWriter } from "./part-writer.ts";
import { plain } from "./read.ts";

/**
 * What closes a call whose provider says its arguments in one piece at the end. Some write the JSON
 * anew then: as long as it says the same, what was streamed stays. If it says something else, the
 * reader of the reply finds out, and the call does not run.
 */
export function closingOf(streamed: string, whole: string): Closing {
  if (whole === "" || whole === streamed) return {};
  if (whole.startsWith(streamed)) return { whole };
  const said = parseJson(whole);
  const before = parseJson(streamed);
  return said.ok && before.ok && equalJson(said.value, before.value) ? {} : { whole };
}

/**
 * Ends a call that another framework has run, or will. Its text stays to the letter. Where the
 * framework ran it on something else (defaults filled in, arguments repaired), that is metadata.
 */
export function closeRunCall(writer: PartWriter, id: PartId, input: unknown, opaque?: Json): void {
  const kept: Closing = opaque === undefined ? {} : { opaque };
  const streamed = writer.streamed(id);
  const ran = plain(input);
  if (streamed === "") {
    const whole = typeof input === "string" ? input : JSON.stringify(ran ?? {});
    writer.close(id, { ...kept, whole });
    return;
  }
  if (ran !== undefined && !equalJson(ran, parseArguments(streamed).input)) {
    writer.metadata(id, { input: ran });
  }
  writer.close(id, kept);
}

/** The arguments of a replayed call. One with a fault is sent empty: its answer says what was wrong. */
export function replayedInput(call: { readonly input?: JsonObject }): JsonObject {
  return call.input ?? {};
}

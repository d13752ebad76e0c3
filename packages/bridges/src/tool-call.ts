import { equalJson, parseJson } from "@millrace/core/json";
import { parseArguments } from "@millrace/core/model";
import type { Json, JsonObject, PartId } from "@millrace/core";
import type { Closing, PartWriter } from "./part-writer.ts";
import { plain } from "./read.ts";

/**
 * Returns what closes a call whose provider repeats the complete arguments at the end. Some
 * providers serialise them again: if the value is the same, the streamed text is kept. If it
 * differs, the reply reader fails the reply and the call does not run.
 */
export function closingOf(streamed: string, whole: string): Closing {
  if (whole === "" || whole === streamed) return {};
  if (whole.startsWith(streamed)) return { whole };
  const repeated = parseJson(whole);
  const earlier = parseJson(streamed);
  return repeated.ok && earlier.ok && equalJson(repeated.value, earlier.value) ? {} : { whole };
}

/**
 * Closes a call that another framework runs. The argument text stays unchanged. If the framework
 * ran the tool with other input (defaults added, arguments repaired), that input becomes metadata.
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

/**
 * The arguments of a replayed call. A call with a fault is sent with none: its answer describes the
 * fault.
 */
export function replayedInput(call: { readonly input?: JsonObject }): JsonObject {
  return call.input ?? {};
}

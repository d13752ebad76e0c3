import type { JsonObject } from "@millrace/core";
import type { Ending, WholeStop } from "@millrace/core/writing";
import type { Halt, Operation, StreamEnd } from "../../protocol.ts";
import { failure } from "../../failure.ts";
import { cutEnding } from "../../reply.ts";
import { excerpt } from "../read.ts";
import { closing, cutOff } from "./closing.ts";
import type { BedrockConverseState } from "./state.ts";
import { usageOf } from "./usage.ts";

/** Decides how the reply ended. Only `messageStop` proves that it is complete. */
export function halt(state: BedrockConverseState, end: StreamEnd): Halt {
  const usage = usageOf(state.usage);
  const counted = usage === undefined ? {} : { usage };
  if (end.kind === "failed" || !state.stopped) {
    return { operations: [], ending: cutEnding(end, evidenceOf(state)), ...counted };
  }
  const ending = endingOf(state);
  const operations = ending.cause === undefined ? lastOperations(state, ending.stop) : [];
  return { operations, ending, namelessCalls: state.namelessCalls, ...counted };
}

const stops: ReadonlyMap<string, WholeStop> = new Map([
  ["end_turn", "end"],
  ["stop_sequence", "end"],
  ["tool_use", "tools"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["guardrail_intervened", "filtered"],
  ["content_filtered", "filtered"],
]);

/** Stop reasons of a reply that can't be used. Another try may give one that can. */
const malformed: ReadonlyMap<string, string> = new Map([
  ["malformed_tool_use", "the model wrote a call that the vendor could not read"],
  ["malformed_model_output", "the model wrote a reply that the vendor could not read"],
]);

function endingOf(state: BedrockConverseState): Ending {
  const evidence = evidenceOf(state);
  const reason = state.stopReason ?? "";
  const stop = stops.get(reason);
  if (stop === undefined) {
    const message =
      malformed.get(reason) ?? "the vendor stopped for a reason that this version does not know";
    const code = malformed.has(reason) ? "malformed_call" : "unknown_stop";
    return { stop: "failed", cause: failure(code, message, evidence) };
  }
  // Calls need answers whatever the stop reason is: without them the next request is refused.
  if (state.calls > 0) return { stop: stop === "end" ? "tools" : stop, evidence };
  return stop === "tools"
    ? { stop: "end", evidence: { ...evidence, calls: 0 } }
    : { stop, evidence };
}

/** Closes blocks that the model did not stop, and calls that were held until the stop reason. */
function lastOperations(
  { open, held }: BedrockConverseState,
  stop: Ending["stop"],
): readonly Operation[] {
  const cut = stop === "length" || stop === "filtered";
  return [
    ...held.map((id): Operation => (cut ? cutOff(id) : { op: "close_part", partId: id })),
    ...open.flatMap((block) =>
      cut && block.kind === "call" ? [cutOff(block.partId)] : closing(block),
    ),
  ];
}

function evidenceOf({ stopReason, facts, open }: BedrockConverseState): JsonObject {
  return {
    ...(stopReason === undefined ? {} : { stopReason: excerpt(stopReason) }),
    ...facts,
    ...(open.length > 0 ? { openBlocks: open.length } : {}),
  };
}

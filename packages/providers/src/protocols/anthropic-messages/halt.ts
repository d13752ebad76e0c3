import type { JsonObject } from "@millrace/core";
import type { Ending, WholeStop } from "@millrace/core/writing";
import type { Halt, Operation, StreamEnd } from "../../protocol.ts";
import { cutEnding } from "../../reply.ts";
import { failure } from "../../failure.ts";
import { excerpt } from "../read.ts";
import { closing, cutOff } from "./closing.ts";
import type { AnthropicMessagesState, Stop } from "./state.ts";
import { usageOf } from "./usage.ts";

/** Decides how the reply ended. */
export function halt(state: AnthropicMessagesState, end: StreamEnd): Halt {
  const usage = usageOf(state.usage);
  const counted = usage === undefined ? {} : { usage };
  const proof = end.kind === "failed" ? undefined : proven(state);
  if (proof === undefined) {
    return { operations: [], ending: cutEnding(end, evidenceOf(state)), ...counted };
  }
  const ending = endingOf(state, proof);
  const operations = ending.cause === undefined ? lastOperations(state, ending.stop) : [];
  return { operations, ending, namelessCalls: state.namelessCalls, ...counted };
}

/**
 * The stop reason, if the reply is proved complete: it needs a stop reason and `message_stop`. If
 * the reason arrived in an event of its own, it is enough that no block is open.
 */
function proven({ phase, stop, open }: AnthropicMessagesState): Stop | undefined {
  if (stop === undefined || phase === "over") return stop;
  return stop.reported === "at_end" && open.length === 0 ? stop : undefined;
}

const stops: ReadonlyMap<string, WholeStop> = new Map([
  ["end_turn", "end"],
  ["stop_sequence", "end"],
  ["tool_use", "tools"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["pause_turn", "paused"],
  // The context was compacted and the settings ask to pause after that. The same turn is resumed.
  ["compaction", "paused"],
  ["refusal", "filtered"],
  ["sensitive", "filtered"],
  // Bedrock's guardrails, which also replace the text.
  ["guardrail_intervened", "filtered"],
]);

function endingOf(state: AnthropicMessagesState, { reason }: Stop): Ending {
  const late = state.phase === "over" ? {} : { late_close: true };
  const evidence = { ...evidenceOf(state), ...late };
  const stop = stops.get(reason);
  if (stop === undefined) {
    const message = "the vendor stopped for a reason that this version does not know";
    return { stop: "failed", cause: failure("unknown_stop", message, evidence) };
  }
  // Calls need answers whatever the stop reason is: without them the vendor refuses the next
  // request.
  if (state.calls > 0) return { stop: answerable(stop), evidence };
  return stop === "tools"
    ? { stop: "end", evidence: { ...evidence, calls: 0 } }
    : { stop, evidence };
}

function answerable(stop: WholeStop): WholeStop {
  return stop === "end" || stop === "paused" ? "tools" : stop;
}

/** Closes open blocks, and calls that were held until the stop reason. */
function lastOperations(
  { open, held }: AnthropicMessagesState,
  stop: Ending["stop"],
): readonly Operation[] {
  const cut = stop === "length" || stop === "filtered";
  return [
    ...held.map((id): Operation => (cut ? cutOff(id) : { op: "close_part", partId: id })),
    ...open.flatMap((block) => closing(block, "left_open")),
  ];
}

function evidenceOf({ stop, facts, open }: AnthropicMessagesState): JsonObject {
  return {
    ...(stop === undefined ? {} : { stop_reason: excerpt(stop.reason) }),
    ...facts,
    ...(open.length > 0 ? { open_blocks: open.length } : {}),
  };
}

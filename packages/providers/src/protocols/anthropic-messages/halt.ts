import type { JsonObject } from "@millrace/core";
import type { Ending, WholeStop } from "@millrace/core/writing";
import type { Halt, Operation, StreamEnd } from "../../protocol.ts";
import { cutEnding } from "../../reply.ts";
import { failure } from "../../failure.ts";
import { closing, cutOff } from "./closing.ts";
import { excerpt } from "./events.ts";
import type { AnthropicMessagesState, Stop } from "./state.ts";
import { usageOf } from "./usage.ts";

/** Says what the reply came to. */
export function halt(state: AnthropicMessagesState, end: StreamEnd): Halt {
  const usage = usageOf(state.usage);
  const counted = usage === undefined ? {} : { usage };
  const proof = end.kind === "failed" ? undefined : proven(state);
  if (proof === undefined) {
    return { operations: [], ending: cutEnding(end, evidenceOf(state)), ...counted };
  }
  const ending = endingOf(state, proof);
  const operations = ending.cause === undefined ? lastOperations(state, ending.stop) : [];
  return { operations, ending, ...counted };
}

/**
 * The vendor's word that the reply is whole: a reason to stop, and the end of the message. Instead of
 * the latter it is enough that no block is open, if the reason came in an event of its own.
 */
function proven({ phase, stop, open }: AnthropicMessagesState): Stop | undefined {
  if (stop === undefined || phase === "over") return stop;
  return stop.said === "at_end" && open.length === 0 ? stop : undefined;
}

const stops: ReadonlyMap<string, WholeStop> = new Map([
  ["end_turn", "end"],
  ["stop_sequence", "end"],
  ["tool_use", "tools"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["pause_turn", "paused"],
  // The context was summed up, and the caller asked to be told: it goes on with the same turn.
  ["compaction", "paused"],
  ["refusal", "filtered"],
  ["sensitive", "filtered"],
]);

function endingOf(state: AnthropicMessagesState, { reason }: Stop): Ending {
  const late = state.phase === "over" ? {} : { late_close: true };
  const evidence = { ...evidenceOf(state), ...late };
  const stop = stops.get(reason);
  if (stop === undefined) {
    const message = "the vendor stopped for a reason that this version does not know";
    return { stop: "failed", cause: failure("unknown_stop", message, evidence) };
  }
  // Calls wait for answers, whatever the reason says: without them the next request is refused.
  if (state.calls > 0) return { stop: answerable(stop), evidence };
  return stop === "tools"
    ? { stop: "end", evidence: { ...evidence, calls: 0 } }
    : { stop, evidence };
}

function answerable(stop: WholeStop): WholeStop {
  return stop === "end" || stop === "paused" ? "tools" : stop;
}

/** Closes what the vendor left open or what waited for the reason to stop. */
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

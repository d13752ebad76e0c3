import type { WholeStop } from "@millrace/core/writing";
import type { FailureCode } from "../../failure.ts";

/** The endings that a `finish_reason` can report. */
export type ReportedStop = Exclude<WholeStop, "paused">;

/** The meaning of a `finish_reason`: an ending, or a failure. */
export type ChatStop =
  | { readonly stop: ReportedStop; readonly code?: never }
  | { readonly code: FailureCode; readonly stop?: never };

/** The vendor's five reasons, and those of servers that imitate it. */
const verdicts: ReadonlyMap<string, ChatStop> = new Map<string, ChatStop>([
  ["stop", { stop: "end" }],
  ["end", { stop: "end" }],
  ["end_turn", { stop: "end" }],
  ["eos", { stop: "end" }],
  ["eos_token", { stop: "end" }],
  ["stop_sequence", { stop: "end" }],
  ["complete", { stop: "end" }],
  ["tool_calls", { stop: "tools" }],
  ["tool_call", { stop: "tools" }],
  ["tool_use", { stop: "tools" }],
  ["function_call", { stop: "tools" }],
  ["length", { stop: "length" }],
  ["max_tokens", { stop: "length" }],
  ["model_length", { stop: "length" }],
  ["model_context_window_exceeded", { stop: "length" }],
  // The server saw that the model repeats itself, and cut it.
  ["repetition", { stop: "length" }],
  ["content_filter", { stop: "filtered" }],
  ["safety", { stop: "filtered" }],
  ["sensitive", { stop: "filtered" }],
  ["abort", { code: "server_error" }],
  ["error", { code: "provider_error" }],
  ["network_error", { code: "server_error" }],
  ["insufficient_system_resource", { code: "overloaded" }],
]);

/** An unknown reason proves nothing, so it is a failure. */
export function verdictOf(reason: string): ChatStop {
  return verdicts.get(reason.toLowerCase()) ?? { code: "unknown_stop" };
}

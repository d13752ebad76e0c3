import type { Json } from "@millrace/core";
import type { CallAnswer } from "@millrace/core/writing";

/** An object whose only key is `output` or `error` is used as it is. Anything else is the output itself. */
export function callAnswerOf(answer: unknown): CallAnswer {
  if (typeof answer === "object" && answer !== null && Object.keys(answer).length === 1) {
    if ("output" in answer) return { output: answer.output as Json };
    if ("error" in answer && typeof answer.error === "string") return { error: answer.error };
  }
  return { output: answer as Json };
}

// What the program needs to run without a key: a script in the model's place, and a payment that prints a line.
import type { Model } from "@millrace/core";
import { call, say, scriptedModel } from "@millrace/core/testing";

/** Asks for the refund first, and answers once its result is there. */
export const demo: Model = scriptedModel(({ transcript }) => {
  const isAnswered = transcript.at(-1)?.parts[0]?.kind === "tool_result";
  return isAnswered ? [say("Done.")] : [call("refund", { order: "A1", cents: 9_000 })];
});

export function pay(order: string, cents: number): { order: string; refunded: number } {
  console.log(`paid back ${cents} cents for ${order}`);
  return { order, refunded: cents };
}

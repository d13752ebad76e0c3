import type { Part } from "./client.ts";

type Call = Extract<Part, { readonly kind: "tool_call" }>;

/** Whether a call will still come to something. A page may see one for the first time while it waits for its turn. */
export function isUnderWay({ state }: Pick<Call, "state">): boolean {
  return state === "writing" || state === "waiting" || state === "running";
}

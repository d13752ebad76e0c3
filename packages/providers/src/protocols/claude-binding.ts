import type { JsonObject } from "@millrace/core";
import type { RequestTarget } from "../protocol.ts";
import { claude } from "./anthropic-messages/models.ts";
import { objectAt } from "./read.ts";

/** The name of the feature for people. */
export const bindingFeature = "thinking.block_binding";

/** The feature by which a request says what becomes of thinking that is not valid in its place. */
export const bindingBeta = "thinking-binding-controls-2026-08-01";

/**
 * Asks the vendor to leave out thinking that is bound to another beginning of the conversation, instead
 * of refusing this request and every later one. Undefined for models that do not check it.
 */
export function claudeBinding(
  settings: JsonObject,
  { model, off }: RequestTarget,
): JsonObject | undefined {
  if (off?.has(bindingFeature) === true) return undefined;
  const thinking = objectAt(settings, "thinking") ?? { type: "adaptive" };
  if (!claude(model).bindsThinking || thinking["type"] === "disabled") return undefined;
  const block_binding = { prefix_mismatch_behavior: "drop_block" };
  return { thinking: { block_binding, ...thinking } };
}

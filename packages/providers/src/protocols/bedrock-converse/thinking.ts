import type { JsonObject } from "@millrace/core";
import { objectAt } from "../read.ts";
import { isReasoning, joined } from "./messages.ts";
import type { Message } from "./messages.ts";
import { isClaude } from "./settings.ts";

/** Claude models that think only if the request enables it. */
const thinksOnRequest = /claude-(?:[0-3]|instant|(?:opus|sonnet|haiku)-4)(?!\d)/;

/**
 * Makes reasoning in the messages and Claude's thinking setting agree: in the current run of tool calls
 * each message of the model begins with reasoning if thinking is enabled, and has none if it is disabled.
 * Other vendors' models check neither.
 */
export function withThinking(
  messages: readonly Message[],
  settings: JsonObject,
  model: string,
): { readonly messages: readonly Message[]; readonly settings: JsonObject } {
  if (!isClaude(model)) return { messages, settings };
  const fields = objectAt(settings, "additionalModelRequestFields");
  const given = objectAt(fields, "thinking")?.["type"];
  const mode = given ?? (thinksOnRequest.test(model) ? "disabled" : "adaptive");
  const start = messages.findLastIndex(isFresh) + 1;
  const own = messages.filter(({ role }, at) => at >= start && role === "assistant");
  if (mode === "disabled") return { messages: withoutReasoning(messages, start), settings };
  if (mode !== "enabled" || own.every(({ content }) => isReasoning(content[0]))) {
    return { messages, settings };
  }
  const { thinking: _, ...rest } = fields ?? {};
  return {
    messages: withoutReasoning(messages, start),
    settings: { ...settings, additionalModelRequestFields: rest },
  };
}

/** True for a message of the user without results. */
function isFresh({ role, content }: Message): boolean {
  return role === "user" && !content.some((block) => block["toolResult"] !== undefined);
}

function withoutReasoning(messages: readonly Message[], start: number): readonly Message[] {
  return joined(
    messages.map((message, at) =>
      at < start || message.role === "user"
        ? message
        : { ...message, content: message.content.filter((block) => !isReasoning(block)) },
    ),
  );
}

import type { JsonObject } from "@millrace/core";
import { textAt } from "../json.ts";
import { pieces } from "../sse.ts";
import { usageOf } from "./reply.ts";
import type { ClaudeReply } from "./reply.ts";

type NamedEvent = readonly [name: string, data: JsonObject];

/** The events of ConverseStream. */
export function converseEvents(reply: ClaudeReply, body: JsonObject): readonly NamedEvent[] {
  const usage = usageOf(reply);
  const input = Number(usage["input_tokens"]);
  const output = Number(usage["output_tokens"]);
  const paths = body["additionalModelResponseFieldPaths"];
  const isAsked = Array.isArray(paths) && paths.includes("/input_transformations");
  const more =
    isAsked && reply.transformations !== undefined
      ? { additionalModelResponseFields: { input_transformations: [...reply.transformations] } }
      : {};
  return [
    ["messageStart", { role: "assistant" }],
    ...reply.blocks.flatMap(blockEvents),
    ["messageStop", { stopReason: stopReason(reply.stop), ...more }],
    [
      "metadata",
      {
        usage: {
          inputTokens: input,
          outputTokens: output,
          totalTokens: input + output,
          cacheReadInputTokens: usage["cache_read_input_tokens"] ?? 0,
          cacheWriteInputTokens: usage["cache_creation_input_tokens"] ?? 0,
        },
        metrics: { latencyMs: 1 },
      },
    ],
  ];
}

function stopReason(stop: string): string {
  return stop === "refusal" ? "content_filtered" : stop;
}

function blockEvents(block: JsonObject, contentBlockIndex: number): readonly NamedEvent[] {
  const delta = (value: JsonObject): NamedEvent => [
    "contentBlockDelta",
    { contentBlockIndex, delta: value },
  ];
  const stop: NamedEvent = ["contentBlockStop", { contentBlockIndex }];
  switch (block["type"]) {
    case "thinking": {
      const reasoning = (value: JsonObject): NamedEvent => delta({ reasoningContent: value });
      return [
        ...pieces(textAt(block, "thinking") ?? "").map((text) => reasoning({ text })),
        reasoning({ signature: block["signature"] ?? "" }),
        stop,
      ];
    }
    case "tool_use": {
      const start = { toolUse: { toolUseId: block["id"] ?? "", name: block["name"] ?? "" } };
      return [
        ["contentBlockStart", { contentBlockIndex, start }],
        ...pieces(JSON.stringify(block["input"])).map((input) => delta({ toolUse: { input } })),
        stop,
      ];
    }
    default:
      return [...pieces(textAt(block, "text") ?? "").map((text) => delta({ text })), stop];
  }
}

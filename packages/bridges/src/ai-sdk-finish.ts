import type { Cause, Json, Usage } from "@millrace/core";
import type { Ending } from "@millrace/core/writing";
import { failure } from "@millrace/providers/protocol-kit";
import { cutBy } from "./cause.ts";
import { countOf, fieldsOf, textOr } from "./read.ts";
import type { Fields } from "./read.ts";

/** The end of an AI SDK reply. Both layers of the SDK are read into this shape. */
export interface AiSdkFinish {
  readonly reason: string;
  /** The vendor's finish reason, if the SDK passes it on. */
  readonly raw: string | undefined;
  /** Response metadata: id and model. */
  readonly facts: Readonly<Record<string, Json>>;
}

export function finishOf(part: Fields, facts: AiSdkFinish["facts"]): AiSdkFinish {
  const reason = part["finishReason"];
  // A model reports an object with both reasons, `streamText` reports two fields.
  const unified = typeof reason === "string" ? reason : fieldsOf(reason)["unified"];
  const raw = typeof reason === "string" ? part["rawFinishReason"] : fieldsOf(reason)["raw"];
  return {
    reason: textOr(unified, ""),
    raw: typeof raw === "string" ? raw.toWellFormed() : undefined,
    facts,
  };
}

/**
 * Maps a finish reason to an ending. `calls` is the number of calls in the reply, answered or not.
 * `error` is an error that the stream reported earlier; it overrides every reason.
 */
export function endingOf(finish: AiSdkFinish, calls: number, error: Cause | undefined): Ending {
  const { reason, raw, facts } = finish;
  const evidence = { finishReason: reason, ...(raw === undefined ? {} : { raw }), ...facts };
  if (error !== undefined) return cutBy(error);
  switch (reason) {
    case "stop":
      if (raw === "pause_turn") return { stop: "paused", evidence };
      return { stop: calls > 0 ? "tools" : "end", evidence };
    case "tool-calls":
      return calls > 0
        ? { stop: "tools", evidence }
        : { stop: "end", evidence: { ...evidence, calls: 0 } };
    case "length":
      return { stop: "length", evidence };
    case "content-filter":
      return { stop: "filtered", evidence };
    case "error":
      return cutBy(failure("provider_error", "the provider stopped with an error", evidence));
    case "interrupted":
      return cutBy(failure("truncated", "the provider's stream was cut short", evidence));
    default: {
      // Providers also report `other` if the vendor's stream ended without a reason.
      if (raw === undefined && (reason === "other" || reason === "")) {
        return cutBy(failure("truncated", "nothing said that the reply was whole", evidence));
      }
      const message = `no version of this bridge knows the finish reason ${raw ?? reason}`;
      return cutBy(failure("unknown_stop", message, evidence));
    }
  }
}

/**
 * Reads the usage of one model call. Returns undefined if the input or output count is missing.
 * Both layers include cached and reasoning tokens in the totals, as Millrace does.
 */
export function usageOf(value: unknown): Usage | undefined {
  const usage = fieldsOf(value);
  const input = fieldsOf(usage["inputTokens"]);
  const output = fieldsOf(usage["outputTokens"]);
  const inputDetails = fieldsOf(usage["inputTokenDetails"]);
  const outputDetails = fieldsOf(usage["outputTokenDetails"]);
  const inputTokens = countOf(input["total"] ?? usage["inputTokens"]);
  const outputTokens = countOf(output["total"] ?? usage["outputTokens"]);
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const cachedTokens =
    countOf(input["cacheRead"] ?? inputDetails["cacheReadTokens"] ?? usage["cachedInputTokens"]) ??
    0;
  const cacheWriteTokens = countOf(input["cacheWrite"] ?? inputDetails["cacheWriteTokens"]);
  const reasoningTokens = countOf(
    output["reasoning"] ?? outputDetails["reasoningTokens"] ?? usage["reasoningTokens"],
  );
  if (cachedTokens + (cacheWriteTokens ?? 0) > inputTokens) return undefined;
  return {
    inputTokens,
    outputTokens,
    cachedTokens,
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  };
}

import type { Cause, Json, Usage } from "@millrace/core";
import type { Ending } from "@millrace/core/writing";
import { failure } from "../failure.ts";
import { cutBy } from "./cause.ts";
import { countOf, fieldsOf, textOr } from "./read.ts";
import type { Fields } from "./read.ts";

/** How the AI SDK says that a reply ended, in the words of both of its layers. */
export interface AiSdkFinish {
  readonly reason: string;
  /** The vendor's own word, if it said one. */
  readonly raw: string | undefined;
  /** What is known of the response: its id and model. */
  readonly facts: Readonly<Record<string, Json>>;
}

export function finishOf(part: Fields, facts: AiSdkFinish["facts"]): AiSdkFinish {
  const reason = part["finishReason"];
  // A model says both in one object, `streamText` in two fields.
  const unified = typeof reason === "string" ? reason : fieldsOf(reason)["unified"];
  const raw = typeof reason === "string" ? part["rawFinishReason"] : fieldsOf(reason)["raw"];
  return {
    reason: textOr(unified, ""),
    raw: typeof raw === "string" ? raw.toWellFormed() : undefined,
    facts,
  };
}

/**
 * The ending for a finish reason. `calls`: how many calls wait for an answer, or had one. `error`:
 * what the stream reported before; no reason makes up for it.
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
      // Providers say `other` too when the vendor's stream ended and said nothing.
      if (raw === undefined && (reason === "other" || reason === "")) {
        return cutBy(failure("truncated", "nothing said that the reply was whole", evidence));
      }
      const message = `no version of this bridge knows the finish reason ${raw ?? reason}`;
      return cutBy(failure("unknown_stop", message, evidence));
    }
  }
}

/**
 * The usage of one model call, or nothing if the provider did not say how much went in and came out.
 * Both layers count what was cached and reasoned as part of the totals, as we do.
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

/** Google's SDK, which has no accumulator: chunks, joined as its documentation shows. */
import { GoogleGenAI } from "@google/genai";
import type { GenerateContentResponse, Part } from "@google/genai";
import { countsOf, joinReasoning, parsedCall } from "../reading.ts";
import type { Reading } from "../reading.ts";
import type { Source } from "./contender.ts";

export async function readContent({ base, model }: Source): Promise<Reading> {
  const client = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: base } });
  const chunks = await client.models.generateContentStream({ model, contents: "go" });
  const reading = new Chunks();
  for await (const chunk of chunks) reading.take(chunk);
  return reading.end();
}

const stops: Readonly<Record<string, string>> = {
  MAX_TOKENS: "length",
  SAFETY: "filtered",
  RECITATION: "filtered",
  LANGUAGE: "filtered",
  BLOCKLIST: "filtered",
  PROHIBITED_CONTENT: "filtered",
  SPII: "filtered",
  IMAGE_SAFETY: "filtered",
  IMAGE_PROHIBITED_CONTENT: "filtered",
  IMAGE_RECITATION: "filtered",
};

class Chunks {
  #text = "";
  #reasoning = "";
  readonly #calls: string[] = [];
  #reason = "none";
  #usage: Reading["usage"] = "unknown";

  take({ candidates, promptFeedback, usageMetadata: usage }: GenerateContentResponse): void {
    const candidate = candidates?.[0];
    for (const part of candidate?.content?.parts ?? []) this.#part(part);
    this.#reason = candidate?.finishReason ?? this.#reason;
    if (promptFeedback?.blockReason !== undefined) this.#reason = "SAFETY";
    if (usage === undefined) return;
    // The vendor counts thoughts beside the answer, and what its tools read beside the prompt.
    const { promptTokenCount, toolUsePromptTokenCount, candidatesTokenCount } = usage;
    this.#usage = countsOf(
      sum(promptTokenCount, toolUsePromptTokenCount),
      sum(candidatesTokenCount, usage.thoughtsTokenCount),
      { cached: usage.cachedContentTokenCount, reasoning: usage.thoughtsTokenCount },
    );
  }

  #part({ text, thought, functionCall }: Part): void {
    if (thought === true) this.#reasoning += text ?? "";
    else this.#text += text ?? "";
    if (functionCall === undefined) return;
    this.#calls.push(parsedCall(functionCall.name ?? "", functionCall.args ?? {}));
  }

  /** The API has no reason for calls: a reply that stopped with some waits for their results. */
  end(): Reading {
    const stopped = this.#calls.length > 0 ? "tools" : "end";
    return {
      failed: false,
      text: this.#text,
      reasoning: joinReasoning([this.#reasoning]),
      calls: this.#calls,
      stop: this.#reason === "STOP" ? stopped : (stops[this.#reason] ?? this.#reason),
      usage: this.#usage,
    };
  }
}

function sum(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined && right === undefined ? undefined : (left ?? 0) + (right ?? 0);
}

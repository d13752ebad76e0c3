/** Millrace as a user calls it: deltas verified and folded, one observer, the reply at the end. */
import type { Model, Part } from "@millrace/core";
import { anthropic } from "@millrace/providers/anthropic";
import { openaiCompatible } from "@millrace/providers/openai";
import { both, isAnthropic, startWriting } from "./contender.ts";
import type { Contender } from "./contender.ts";

export const millrace: Contender = contender(undefined);

/** The same through the platform's `fetch`. */
export const millraceFetch: Contender = contender(fetch);

function contender(mine: typeof fetch | undefined): Contender {
  return {
    dialects: both,
    run: async (base, name) => {
      const options = { apiKey: "k", fetch: mine };
      const model: Model = isAnthropic(name)
        ? anthropic(name, { ...options, baseUrl: base })
        : openaiCompatible(name, { ...options, baseUrl: `${base}/v1` });
      const stream = model.stream({ transcript: [] });
      let seen = 0;
      for await (const delta of stream) seen += delta.op === "append_text" ? delta.chunk.length : 1;
      const { stop, parts, cause } = await stream.result;
      if (cause !== undefined || seen === 0) throw new Error(`${stop}: ${cause?.message}`);
      return outcomeOf(parts);
    },
  };
}

function outcomeOf(parts: readonly Part[]): ReturnType<typeof startWriting> {
  const outcome = startWriting();
  for (const part of parts) {
    if (part.kind === "text") outcome.text += part.text;
    else if (part.kind === "reasoning") outcome.thinking += part.text;
    else if (part.kind === "tool_call") outcome.calls.push({ name: part.tool, input: part.input });
  }
  return outcome;
}

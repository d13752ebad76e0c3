import type { Outcome } from "../scenario.ts";

/** Reads one stream to its end. `base` is the vendor's address, as `http://127.0.0.1:1234`. */
export interface Contender {
  readonly run: (base: string, model: string) => Promise<Outcome | "looked away">;
  readonly dialects: readonly ("openai-chat" | "anthropic-messages")[];
}

export const both = ["openai-chat", "anthropic-messages"] as const;

/** An outcome under construction. */
export interface Writing {
  text: string;
  thinking: string;
  calls: { name: string; input: unknown }[];
}

export function startWriting(): Writing {
  return { text: "", thinking: "", calls: [] };
}

/** The one tool that the scenarios call. */
export const writeFileSchema = {
  type: "object",
  properties: {
    path: { type: "string" },
    mode: { type: "string" },
    content: { type: "string" },
    edits: {
      type: "array",
      items: {
        type: "object",
        properties: { line: { type: "number" }, ok: { type: "boolean" } },
        required: ["line", "ok"],
        additionalProperties: false,
      },
    },
  },
  required: ["path", "mode", "content", "edits"],
  additionalProperties: false,
} as const;

export const isAnthropic = (model: string): boolean => model.startsWith("anthropic");

export const hasCalls = (model: string): boolean => !model.startsWith("text");

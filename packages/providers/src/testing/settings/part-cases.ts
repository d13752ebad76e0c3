import { partId } from "@millrace/core/writing";
import type { FilePart, JsonObject, MediaPart, Part, TextPart } from "@millrace/core";
import type { PartOptions } from "@millrace/core/ports";

export const png: Uint8Array = Uint8Array.of(
  0x89,
  0x50,
  0x4e,
  0x47,
  0x0d,
  0x0a,
  0x1a,
  0x0a,
  1,
  2,
  3,
);
export const image: MediaPart = {
  kind: "media",
  id: partId("p1"),
  mediaType: "image/png",
  bytes: png,
};
const pdf: FilePart = {
  kind: "file",
  id: partId("p1"),
  name: "a.pdf",
  mediaType: "application/pdf",
  bytes: Uint8Array.from("%PDF-1.7 \u0001", (letter) => letter.charCodeAt(0)),
};
export const text: TextPart = { kind: "text", id: partId("p1"), text: "Hello." };

/** An option of a part for a model, and what becomes of it. */
export interface PartCase {
  readonly name: string;
  readonly model: string;
  readonly part: Part;
  readonly options: PartOptions;
  /** What the body holds, or what the refusal says. */
  readonly sent?: JsonObject;
  readonly refused?: RegExp;
  /** The vendor does so by itself. */
  readonly inherent?: true;
}

export const chat = { name: "openai-chat", model: "gpt-5" };
const newChat = { name: "openai-chat", model: "gpt-5.6-sol" };
const compatible = { name: "openai-compatible", model: "openai/gpt-5.6-sol" };
export const responses = { name: "openai-responses", model: "gpt-5" };
const newResponses = { name: "openai-responses", model: "gpt-5.6-sol" };
export const messages = { name: "anthropic-messages", model: "claude-sonnet-5" };
export const gemini = { name: "gemini", model: "gemini-3-pro-preview" };
const converse = {
  name: "bedrock-converse",
  model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
};
const llama = { name: "bedrock-converse", model: "meta.llama3-3-70b-instruct-v1:0" };
const oldGemini = { name: "gemini", model: "gemini-2.5-flash" };

export const low = { detail: "low" } as const;
const cited = { citations: true } as const;
export const kept = { cache: true } as const;
const about = { context: "from 1999" } as const;
const mark = { prompt_cache_breakpoint: { mode: "explicit" } };

export const partCases: readonly PartCase[] = [
  { ...chat, part: image, options: low, sent: low },
  { ...chat, part: pdf, options: low, refused: /for images: leave/ },
  { ...responses, part: image, options: low, sent: low },
  { ...responses, part: pdf, options: low, sent: { type: "input_file", ...low } },
  { ...messages, part: image, options: low, refused: /no levels of detail: scale/ },
  { ...gemini, part: image, options: low, sent: { level: "MEDIA_RESOLUTION_LOW" } },
  { ...gemini, part: image, options: { detail: "auto" }, inherent: true },
  { ...oldGemini, part: image, options: low, refused: /set generationConfig.mediaResolution/ },
  { ...gemini, part: text, options: low, refused: /for images: leave/ },

  { ...chat, part: pdf, options: cited, refused: /leave the option out, or ask Anthropic/ },
  { ...responses, part: pdf, options: cited, refused: /leave the option out, or ask Anthropic/ },
  { ...messages, part: pdf, options: cited, sent: { citations: { enabled: true } } },
  {
    ...messages,
    part: pdf,
    options: { citations: false },
    sent: { citations: { enabled: false } },
  },
  { ...messages, part: image, options: cited, refused: /leave the option out/ },
  { ...gemini, part: pdf, options: cited, refused: /leave the option out, or ask Anthropic/ },

  { ...chat, part: text, options: kept, inherent: true },
  { ...newChat, part: text, options: kept, sent: { type: "text", text: "Hello.", ...mark } },
  { ...newChat, part: image, options: kept, sent: mark },
  { ...compatible, part: text, options: kept, inherent: true },
  { ...responses, part: text, options: kept, inherent: true },
  { ...newResponses, part: text, options: kept, sent: { type: "input_text", ...mark } },
  { ...newResponses, part: pdf, options: kept, sent: { type: "input_file", ...mark } },
  { ...messages, part: text, options: kept, sent: { cache_control: { type: "ephemeral" } } },
  { ...messages, part: image, options: kept, sent: { cache_control: { type: "ephemeral" } } },
  { ...gemini, part: text, options: kept, inherent: true },

  { ...chat, part: pdf, options: about, refused: /write a text before the file/ },
  { ...responses, part: pdf, options: about, refused: /write a text before the file/ },
  { ...messages, part: pdf, options: about, sent: { type: "document", ...about } },
  { ...messages, part: text, options: about, refused: /for documents: leave/ },
  { ...gemini, part: pdf, options: about, refused: /write a text before the file/ },

  { ...converse, part: image, options: low, refused: /no levels of detail: scale/ },
  { ...converse, part: pdf, options: cited, sent: { citations: { enabled: true } } },
  { ...converse, part: pdf, options: about, sent: about },
  { ...converse, part: image, options: cited, refused: /leave the option out/ },
  { ...converse, part: text, options: about, refused: /for documents: leave/ },
  { ...converse, part: text, options: kept, sent: { cachePoint: { type: "default" } } },
  { ...converse, part: image, options: kept, sent: { cachePoint: { type: "default" } } },
  { ...llama, part: text, options: kept, refused: /use Claude or Nova, or leave it out/ },
];

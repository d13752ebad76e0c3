// Stands for a vendor's client: it streams an answer in chunks, and some of them carry no text.
import type { Transcript } from "@millrace/core";

export interface ChatMessage {
  readonly role: "user" | "assistant";
  readonly content: string;
}

export interface ChatChunk {
  readonly choices: readonly { readonly delta: { readonly content?: string } }[];
}

/** The stored history in the vendor's form. */
export function chatMessages(transcript: Transcript): readonly ChatMessage[] {
  return transcript.map(({ author, parts }) => ({
    role: author === "user" ? "user" : "assistant",
    content: parts.map((part) => (part.kind === "text" ? part.text : "")).join(""),
  }));
}

export async function* chatStream(messages: readonly ChatMessage[]): AsyncGenerator<ChatChunk> {
  const words = ["Take ", "a warm ", "coat. ", `(${messages.length} message)`];
  yield { choices: [{ delta: {} }] };
  for (const content of words) yield { choices: [{ delta: { content } }] };
  yield { choices: [] };
}

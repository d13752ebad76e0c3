import type { Contender } from "./contender.ts";
import { readMessage } from "./anthropic.ts";
import { readContent } from "./google.ts";
import { readChat, readResponse } from "./openai.ts";

/** The official SDK of each protocol. */
export const vendorSdk: Contender = {
  name: (protocol) => vendors[protocol].name,
  read: (source) => vendors[source.protocol].read(source),
};

const vendors = {
  "openai-chat": { name: "openai", read: readChat },
  "openai-responses": { name: "openai", read: readResponse },
  "anthropic-messages": { name: "@anthropic-ai/sdk", read: readMessage },
  gemini: { name: "@google/genai", read: readContent },
} as const;

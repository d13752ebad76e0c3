import type { JsonObject } from "@millrace/core";
import { objectAt, objectsAt, textAt } from "./json.ts";
import { refuse } from "./refusal.ts";
import { readSigned } from "./signed-text.ts";

/** One entry of `contents`. */
export interface GeminiContent {
  readonly at: number;
  readonly role: string;
  readonly parts: readonly JsonObject[];
  readonly calls: readonly JsonObject[];
  readonly isResults: boolean;
}

const bodyFields = [
  "contents",
  "systemInstruction",
  "tools",
  "toolConfig",
  "generationConfig",
  "safetySettings",
  "cachedContent",
  "labels",
  "serviceTier",
  "store",
];

const partFields = [
  "text",
  "thought",
  "thoughtSignature",
  "functionCall",
  "functionResponse",
  "inlineData",
  "fileData",
  "executableCode",
  "codeExecutionResult",
  "toolCall",
  "toolResponse",
  "videoMetadata",
  "mediaResolution",
  "partMetadata",
];

/** Signatures that the vendor accepts in the place of one that it made. */
const placeholders = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/** Reads the contents and checks the names of fields. */
export function readContents(body: JsonObject): readonly GeminiContent[] {
  checkNames(body, bodyFields, "");
  const contents = objectsAt(body, "contents").map((content, at): GeminiContent => {
    const parts = objectsAt(content, "parts");
    parts.forEach((part, index) => {
      checkNames(part, partFields, ` at 'contents[${at}].parts[${index}]'`);
    });
    return {
      at,
      role: textAt(content, "role") ?? "user",
      parts,
      calls: parts.filter((part) => objectAt(part, "functionCall") !== undefined),
      isResults: parts.some((part) => objectAt(part, "functionResponse") !== undefined),
    };
  });
  if (contents.length === 0) {
    refuse("* GenerateContentRequest.contents: contents is not specified\n");
  }
  return contents;
}

function checkNames(value: JsonObject, allowed: readonly string[], place: string): void {
  const unknown = Object.keys(value).find((key) => !allowed.includes(key));
  if (unknown === undefined) return;
  refuse(`Invalid JSON payload received. Unknown name "${unknown}"${place}: Cannot find field.`);
}

/** Calls follow the user, and as many results follow the calls. */
export function checkPairs(contents: readonly GeminiContent[]): void {
  for (const [at, { role, calls }] of contents.entries()) {
    if (role !== "model" || calls.length === 0) continue;
    if (contents[at - 1]?.role !== "user") {
      refuse(
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
      );
    }
    const results = (contents[at + 1]?.parts ?? []).filter(
      (part) => objectAt(part, "functionResponse") !== undefined,
    );
    if (results.length !== calls.length) {
      refuse(
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
      );
    }
  }
}

/**
 * Each signature must be one that the vendor made for this key. In the turn that still runs, the first
 * call of each step must have one.
 */
export function checkSignatures(
  contents: readonly GeminiContent[],
  { secret, isRequired }: { readonly secret: string; readonly isRequired: boolean },
): void {
  for (const { parts } of contents) {
    for (const part of parts) {
      const signature = textAt(part, "thoughtSignature");
      if (signature === undefined || placeholders.includes(signature)) continue;
      if (readSigned(signature, secret) === undefined) refuse("Corrupted thought signature.");
    }
  }
  if (!isRequired) return;
  const start = contents.findLastIndex(({ role, isResults }) => role === "user" && !isResults);
  for (const { at, calls } of contents.slice(start + 1)) {
    const [first] = calls;
    if (first === undefined || textAt(first, "thoughtSignature") !== undefined) continue;
    const name = textAt(objectAt(first, "functionCall"), "name") ?? "";
    refuse(
      `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${at + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
    );
  }
}

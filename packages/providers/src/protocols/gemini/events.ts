import { isJsonObject } from "@millrace/core/json";
import type { JsonObject } from "@millrace/core";
import { filledAt, isSound, listAt } from "../read.ts";

/** The exact signature of a part. It is base64, so malformed text counts as none. */
export function signatureOf(part: JsonObject): string | undefined {
  const signature = filledAt(part, "thoughtSignature");
  return signature !== undefined && isSound(signature) ? signature : undefined;
}

/** The candidate of the reply. Others exist only if a setting asks for them, and are ignored. */
export function candidateOf(data: JsonObject): JsonObject | undefined {
  for (const candidate of listAt(data, "candidates")) {
    if (isJsonObject(candidate) && isFirst(candidate)) return candidate;
  }
  return undefined;
}

export function isFirst(candidate: JsonObject): boolean {
  const index = candidate["index"];
  return index === undefined || index === 0 || index === null;
}

/** Fields of a part that describe its data. All other fields are data. */
const modifiers: ReadonlySet<string> = new Set([
  "thought",
  "thoughtSignature",
  "partMetadata",
  "mediaResolution",
  "videoMetadata",
]);

/** The name of the part's data field. A part has at most one. */
export function dataOf(part: JsonObject): string | undefined {
  for (const key of Object.keys(part)) {
    if (!modifiers.has(key) && part[key] !== null) return key;
  }
  return undefined;
}

const impliedFields = [
  "candidates",
  "promptFeedback",
  "usageMetadata",
  "modelVersion",
  "responseId",
  "createTime",
  "modelStatus",
];

/** False for an event without any field that this version knows. */
export function isKnown(data: JsonObject): boolean {
  return impliedFields.some((field) => data[field] !== undefined);
}

/** Facts about the whole reply, repeated in every event. */
export function factsOf(data: JsonObject): JsonObject | undefined {
  const responseId = filledAt(data, "responseId");
  const modelVersion = filledAt(data, "modelVersion");
  if (responseId === undefined && modelVersion === undefined) return undefined;
  return {
    ...(responseId === undefined ? {} : { responseId: responseId.toWellFormed() }),
    ...(modelVersion === undefined ? {} : { modelVersion: modelVersion.toWellFormed() }),
  };
}

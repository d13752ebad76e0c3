import { isJsonObject } from "@millrace/core/json";
import type { CustomPart, JsonObject, ReasoningPart, TextPart, ToolCallPart } from "@millrace/core";
import type { ModelPart, ModelTurn } from "../prepare.ts";
import { textBlocks } from "./content.ts";
import type { Gap } from "./entry.ts";
import { nativeCallOf } from "../native-tools.ts";
import { isSound, listAt, pick, textAt } from "../read.ts";

/** The names of the vendor's own tools that the request offers. */
export interface OfferedNames {
  readonly has: (name: string) => boolean;
}

/** Converts a part of the model's turn to blocks of a request. */
export function modelBlocks(
  part: ModelPart,
  { native }: ModelTurn,
  offered: OfferedNames,
): readonly (JsonObject | Gap)[] {
  switch (part.kind) {
    case "text": {
      const blocks = textBlocksOf(part);
      return blocks.length === 0 ? [undefined] : blocks;
    }
    case "reasoning":
      return thinkingBlocks(part);
    case "tool_call":
      return [callBlock(part, offered)];
    case "custom":
      return [native ? keptBlock(part) : undefined];
    case "media":
    case "file":
      return []; // a user turn shows them: the vendor takes images and documents from users only
    default:
      part satisfies never;
      return [];
  }
}

/** Citation fields that the vendor takes in a request. A reply has more. */
const citationFields = [
  "type",
  "cited_text",
  "document_index",
  "document_title",
  "start_char_index",
  "end_char_index",
  "start_page_number",
  "end_page_number",
  "start_block_index",
  "end_block_index",
  "encrypted_index",
  "search_result_index",
  "source",
  "title",
  "url",
];
/** Fields that must be present even if they are empty. */
const emptyFields: ReadonlyMap<string, string> = new Map([
  ["char_location", "document_title"],
  ["page_location", "document_title"],
  ["content_block_location", "document_title"],
  ["web_search_result_location", "title"],
  ["search_result_location", "title"],
]);

function textBlocksOf({ text, metadata }: TextPart): readonly JsonObject[] {
  const citations = listAt(metadata ?? {}, "citations")
    .filter(isJsonObject)
    .flatMap((citation): readonly JsonObject[] => {
      const empty = emptyFields.get(textAt(citation, "type") ?? "");
      const fields = pick(citation, citationFields);
      return empty === undefined ? [] : [{ [empty]: null, ...fields }];
    });
  return textBlocks(text).map((block) =>
    citations.length === 0 ? block : { ...block, citations },
  );
}

function thinkingBlocks({ text, opaque }: ReasoningPart): readonly JsonObject[] {
  if (!isJsonObject(opaque)) return [];
  const data = textAt(opaque, "data");
  if (opaque["type"] === "redacted_thinking") {
    return data === undefined || data === "" ? [] : [{ type: "redacted_thinking", data }];
  }
  const signature = textAt(opaque, "signature");
  return signature === undefined || signature === "" || !text.isWellFormed()
    ? []
    : [{ type: "thinking", thinking: text, signature }];
}

/**
 * A call that can't run is sent without its input: the answer describes the fault. A call of one of the
 * vendor's own tools has the input that the vendor wrote.
 */
function callBlock(call: ToolCallPart, offered: OfferedNames): JsonObject {
  const { callId, tool, input, metadata } = call;
  const native = nativeCallOf(call, offered);
  const sent = native?.input ?? input;
  return {
    type: "tool_use",
    id: callId,
    name: native?.tool ?? tool,
    input: sent !== undefined && isSound(sent) ? sent : {},
    ...pick(metadata, ["caller", "toolset_name"]),
  };
}

/**
 * Returns a block unchanged, unless it was cut off. A copy, so that equal blocks keep separate
 * identities.
 */
function keptBlock({ name, value, metadata }: CustomPart): JsonObject | Gap {
  if (!isJsonObject(value) || value["type"] !== name || name === "") return undefined;
  if (metadata?.["unusable"] !== undefined || !isSound(value)) return undefined;
  // The summary may be missing but must not be empty.
  return name === "compaction" && value["content"] === "" ? undefined : { ...value };
}

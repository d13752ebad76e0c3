import { isJsonObject } from "@millrace/core/json";
import { partId } from "@millrace/core/writing";
import type { Item, JsonObject } from "@millrace/core";

/**
 * The item of a summary that its vendor has signed: the words of it, and in the metadata what the vendor has
 * made, with the model that takes it back. Undefined if the reply is none.
 */
export function signedSummary(reply: Item): Item | undefined {
  const block = reply.parts.find(({ kind }) => kind === "custom");
  if (block?.kind !== "custom" || block.name !== "compaction") return undefined;
  if (reply.model === undefined || !isJsonObject(block.value)) return undefined;
  const { content: text } = block.value as Partial<JsonObject>;
  if (typeof text !== "string" || text.trim() === "") return undefined;
  const metadata = { summary: { model: reply.model, block: block.value } };
  const parts = [{ kind: "text", id: partId("summary"), text, metadata }] as const;
  const { cause: _, ...rest } = reply;
  return { ...rest, parts, stop: "end" };
}

/** The metadata of a summary that its vendor has signed. */
export function signatureOf({ parts }: Item): JsonObject | undefined {
  const [part] = parts;
  const summary = part?.kind === "text" ? part.metadata?.["summary"] : undefined;
  return isJsonObject(summary) ? { summary } : undefined;
}

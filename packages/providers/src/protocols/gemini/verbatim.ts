import { isJsonObject } from "@millrace/core/json";
import type { CustomPart, JsonObject } from "@millrace/core";
import type { ModelPart } from "../prepare.ts";
import { filledAt, objectAt } from "../read.ts";
import { continuationPart } from "./halt.ts";

/** Parts that the vendor sends and does not accept. */
const outgoing: ReadonlySet<string> = new Set([
  continuationPart,
  "functionResponse",
  "audioTranscription",
]);

/**
 * Returns the vendor's own parts that are sent back unchanged. If one half of a tool run was cut or
 * damaged, both halves are dropped, because the vendor refuses a half.
 */
export function replayed(parts: readonly ModelPart[]): ReadonlySet<ModelPart> {
  const kept = new Set<ModelPart>();
  const openCalls = new Map<string, CustomPart>();
  let code: CustomPart | undefined;
  for (const part of parts) {
    const data = part.kind === "custom" ? dataIn(part) : undefined;
    if (part.kind !== "custom" || data === undefined) {
      code = undefined;
      continue;
    }
    switch (part.name) {
      case "executableCode":
        code = part;
        continue;
      case "codeExecutionResult":
        // Results have no reference to their code, so they must follow it directly.
        if (code !== undefined) kept.add(code).add(part);
        continue;
      case "toolCall":
        openCalls.set(filledAt(data, "id") ?? "", part);
        break;
      case "toolResponse": {
        const id = filledAt(data, "id") ?? "";
        const call = openCalls.get(id);
        if (call !== undefined) kept.add(call).add(part);
        openCalls.delete(id);
        break;
      }
      default:
        if (!outgoing.has(part.name)) kept.add(part);
    }
    code = undefined;
  }
  return kept;
}

/** The data field of the part, if it was stored. */
function dataIn({ name, value }: CustomPart): JsonObject | undefined {
  return isJsonObject(value) ? objectAt(value, name) : undefined;
}

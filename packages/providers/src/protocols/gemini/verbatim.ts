import { isJsonObject } from "@millrace/core/wire";
import type { CustomPart, JsonObject } from "@millrace/core";
import type { ModelPart } from "../prepare.ts";
import { filledAt, objectAt } from "../read.ts";
import { continuationPart } from "./halt.ts";

/** Parts that the vendor writes and does not read. */
const outgoing: ReadonlySet<string> = new Set([
  continuationPart,
  "functionResponse",
  "audioTranscription",
]);

/**
 * The vendor's own parts that go back as they came. Work of its tools that was cut or damaged goes
 * without its other half, too: half of it is refused.
 */
export function replayed(parts: readonly ModelPart[]): ReadonlySet<ModelPart> {
  const kept = new Set<ModelPart>();
  const asked = new Map<string, CustomPart>();
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
        // Results have no reference to their code, so they stand right behind it.
        if (code !== undefined) kept.add(code).add(part);
        continue;
      case "toolCall":
        asked.set(filledAt(data, "id") ?? "", part);
        break;
      case "toolResponse": {
        const id = filledAt(data, "id") ?? "";
        const call = asked.get(id);
        if (call !== undefined) kept.add(call).add(part);
        asked.delete(id);
        break;
      }
      default:
        if (!outgoing.has(part.name)) kept.add(part);
    }
    code = undefined;
  }
  return kept;
}

/** What the part is about, if it is still there. */
function dataIn({ name, value }: CustomPart): JsonObject | undefined {
  return isJsonObject(value) ? objectAt(value, name) : undefined;
}

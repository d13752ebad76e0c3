import { isJsonObject } from "@millrace/core/json";
import { itemId, partId } from "@millrace/core/writing";
import type { Json, JsonObject } from "@millrace/core";
import type { ModelRequest, RequestSettings } from "@millrace/core/ports";
import { RequestRefusal } from "../../protocols/refusal.ts";
import { wireNamesOf, withWireNames } from "../../protocols/tool-names.ts";
import type { SettingsTarget } from "./cases.ts";

/** What became of a setting: the fields that it changed, none, or its refusal. */
export type Outcome =
  | { readonly kind: "sent"; readonly changes: ReadonlyMap<string, Json> }
  | { readonly kind: "by itself" }
  | { readonly kind: "refused"; readonly refusal: RequestRefusal };

/** A request with everything that a setting may be about: instructions, tools and items. */
const plain: ModelRequest = {
  transcript: [
    {
      id: itemId("i1"),
      author: "user",
      parts: [{ kind: "text", id: partId("p1"), text: "Hello." }],
      stop: "end",
    },
  ],
  instructions: "Be kind.",
  tools: [
    { name: "look", input: { type: "object", properties: {} } },
    { name: "fs.read", input: { type: "object", properties: {} } },
  ],
};

/** The body of a request with these settings. Throws a `RequestRefusal`. */
export function bodyWith(
  { protocol }: SettingsTarget,
  model: string,
  settings: RequestSettings,
): JsonObject {
  const request = { ...plain, settings };
  return protocol.request(withWireNames(request, wireNamesOf(request)), { model }).body;
}

export function outcomeOf(
  target: SettingsTarget,
  model: string,
  settings: RequestSettings,
): Outcome {
  try {
    const before = leavesOf(bodyWith(target, model, {}));
    const after = leavesOf(bodyWith(target, model, settings));
    const changes = [...after].filter(([path, leaf]) => before.get(path) !== leaf);
    return changes.length === 0
      ? { kind: "by itself" }
      : { kind: "sent", changes: new Map(changes) };
  } catch (error) {
    if (!(error instanceof RequestRefusal)) throw error;
    return { kind: "refused", refusal: error };
  }
}

/** The values that are no objects, by their paths. A list is one value if it holds no objects. */
function leavesOf(value: Json, path = "", found = new Map<string, Json>()): Map<string, Json> {
  if (Array.isArray(value) && value.some(isJsonObject)) {
    for (const [at, each] of value.entries()) leavesOf(each as Json, `${path}[${at}]`, found);
  } else if (isJsonObject(value) && Object.keys(value).length > 0) {
    const place = path === "" ? "" : `${path}.`;
    for (const [key, each] of Object.entries(value)) leavesOf(each, place + key, found);
  } else {
    // An object without fields may be a choice, such as `{"any":{}}`.
    const isLeaf = typeof value !== "object" || value === null;
    found.set(path, isLeaf ? value : JSON.stringify(value));
  }
  return found;
}

/** An outcome in one line. */
export function printOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case "sent":
      return [...outcome.changes]
        .map(([path, leaf]) => `${path} ${typeof leaf === "string" ? leaf : JSON.stringify(leaf)}`)
        .join(", ");
    case "by itself":
      return "by itself";
    case "refused":
      return `refused: ${outcome.refusal.message.replace(/^.*?\): /, "")}`;
    default:
      return outcome satisfies never;
  }
}

import type { JsonObject } from "@millrace/core";
import { textAt } from "../json.ts";
import { refuse } from "../refusal.ts";
import type { DroppedThinking } from "../vendor.ts";
import { isOfModel, itemType } from "./items.ts";
import type { ResponsesBody } from "./items.ts";
import { seal, unseal } from "./sealed.ts";

/** Encrypts the reasoning before an item. */
export function sealReasoning(
  made: {
    readonly model: string;
    readonly id: string;
    readonly next: string;
    readonly tokens: number;
  },
  organisation: string,
): string {
  return seal({ ...made }, organisation);
}

/** The reasoning in a request that the model does not read. */
export function checkReasoning(
  { model, items, isStored }: ResponsesBody,
  { organisation, reasoningOf }: ReasoningContext,
): readonly DroppedThinking[] {
  const dropped: DroppedThinking[] = [];
  for (const [at, item] of items.entries()) {
    const id = textAt(item, "id") ?? "";
    const before = items[at - 1];
    const required = reasoningOf.get(id);
    if (
      required !== undefined &&
      !(itemType(before) === "reasoning" && before?.["id"] === required)
    ) {
      refuse(
        `Item '${id}' of type '${itemType(item)}' was provided without its required 'reasoning' item: '${required}'.`,
      );
    }
    if (itemType(item) !== "reasoning") continue;
    const sealed = textAt(item, "encrypted_content");
    if (sealed === undefined) {
      if (isStored) continue;
      refuse(
        `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
        { status: 404 },
      );
    }
    const data = unseal(sealed, organisation);
    if (data === undefined) return refuseSealed(sealed);
    checkFollowed(item, items[at + 1], data);
    if (data["model"] !== model) dropped.push({ path: `input[${at}]`, reason: "model_mismatch" });
  }
  return dropped;
}

interface ReasoningContext {
  readonly organisation: string;
  /** The reasoning that each item of the vendor followed, by ids. */
  readonly reasoningOf: ReadonlyMap<string, string>;
}

function refuseSealed(sealed: string): never {
  const short = sealed.length < 9 ? sealed : `${sealed.slice(0, 4)}...${sealed.slice(-4)}`;
  refuse(
    `The encrypted content ${short} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
    { code: "invalid_encrypted_content" },
  );
}

/** Reasoning stands directly before the item that it led to. Without an id, any item of the model will do. */
function checkFollowed(item: JsonObject, next: JsonObject | undefined, data: JsonObject): void {
  const id = textAt(next, "id");
  if (isOfModel(next) && (id === undefined || id === data["next"])) return;
  refuse(
    `Item '${textAt(item, "id") ?? ""}' of type 'reasoning' was provided without its required following item.`,
  );
}

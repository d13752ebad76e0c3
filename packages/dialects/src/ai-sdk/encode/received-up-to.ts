import type { Fact, Item, Part } from "@millrace/core";
import { isJsonObject } from "@millrace/core/wire";
import { callIdOf } from "../../shared/encode/call-names.ts";
import type { Wait } from "../../shared/encode/waits.ts";

/**
 * Up to which fact a page holds the message of a run that it goes on with. Its stream ended where the run
 * waited, so it holds all up to the last moment whose questions and results it knows. 0: it holds none of it.
 */
export function receivedUpTo(
  waits: readonly Wait[],
  parts: readonly Readonly<Record<string, unknown>>[],
): number {
  const held = new Set<unknown>();
  const calls = new Counts();
  const settled = new Counts();
  for (const { id, toolCallId, approval, state } of parts) {
    held.add(id);
    if (isJsonObject(approval)) held.add(approval["id"]);
    if (typeof toolCallId !== "string") continue;
    const callId = callIdOf(toolCallId);
    calls.add(callId);
    if (String(state).startsWith("output-")) settled.add(callId);
  }
  // An id may come again: what the page holds of the first such call is nothing of the second one.
  const isHeld = (wait: Wait): boolean => {
    const known = new Counts(wait.settled);
    const isAsked = (name: string): boolean => held.has(name) || calls.of(name) > known.of(name);
    return wait.asked.every(isAsked) && wait.settled.every((id) => settled.of(id) >= known.of(id));
  };
  return waits.findLast(isHeld)?.n ?? 0;
}

/**
 * Whether a page holds a text that the message did not have up to the fact from which it goes on: what an attempt
 * wrote before the page was cut off. Clients add the rest of a message to all that they hold, so that would stay.
 * A text that the page has shortened is no other one.
 */
export function holdsMore(
  facts: readonly Fact[],
  receivedTo: number,
  parts: readonly Readonly<Record<string, unknown>>[],
): boolean {
  const items = new Map<string, Item>();
  for (const fact of facts) {
    if (fact.type !== "item_committed" && fact.type !== "item_replaced") continue;
    if (fact.n <= receivedTo && fact.item.author !== "user") items.set(fact.item.id, fact.item);
  }
  const stored = [...items.values()].flatMap((item) => item.parts.filter(isText));
  let at = 0;
  for (const { type, text } of parts) {
    if (!isText({ kind: type }) || typeof text !== "string" || text === "") continue;
    const found = stored.findIndex((part, place) => place >= at && part.text.includes(text));
    if (found < 0) return true;
    at = found + 1;
  }
  return false;
}

type TextPart = Extract<Part, { readonly kind: "text" | "reasoning" }>;

function isText(part: { readonly kind: unknown }): part is TextPart {
  return part.kind === "text" || part.kind === "reasoning";
}

/** How often each name comes. */
class Counts {
  readonly #counts = new Map<string, number>();

  constructor(names: readonly string[] = []) {
    for (const name of names) this.add(name);
  }

  add(name: string): void {
    this.#counts.set(name, this.of(name) + 1);
  }

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }
}

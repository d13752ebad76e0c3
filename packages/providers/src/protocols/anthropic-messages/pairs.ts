import { isJsonObject } from "@millrace/core/json";
import type { JsonObject } from "@millrace/core";
import { listAt, objectAt, textAt } from "../read.ts";
import type { Entry } from "./entry.ts";

/**
 * Removes server tool uses without a result, and results without their use: the vendor refuses
 * both, in every later request. A result stands in the message of its use, or in a later one if the
 * server tool called a client tool and waited for the answer.
 */
export function paired(
  entries: readonly Entry[],
  declared: ReadonlySet<string> | undefined,
): readonly Entry[] {
  const pairs = new Pairs(declared);
  for (const run of runsOf(entries)) pairs.read(run);
  return entries.map((entry) =>
    entry.role !== "assistant"
      ? entry
      : { ...entry, content: entry.content.map((block) => pairs.allowed(block)) },
  );
}

/** What the vendor treats as one turn: assistant messages with only results between them. */
interface Run {
  readonly entries: readonly Entry[];
  /** True if the model continues this run in its next message. */
  readonly goesOn: boolean;
}

function runsOf(entries: readonly Entry[]): readonly Run[] {
  const runs: Run[] = [];
  let current: Entry[] = [];
  for (const [at, entry] of entries.entries()) {
    const isLast = at === entries.length - 1;
    const isInside =
      entry.role !== "user" || entry.content.every((block) => block?.["type"] === "tool_result");
    if (entry.role === "assistant") current.push(entry);
    if (isInside && !isLast) continue;
    runs.push({ entries: current, goesOn: isInside });
    current = [];
  }
  return runs;
}

class Pairs {
  readonly #declared: ReadonlySet<string> | undefined;
  readonly #kept = new Set<JsonObject>();
  readonly #ids = new Set<string>();

  constructor(declared: ReadonlySet<string> | undefined) {
    this.#declared = declared;
  }

  read({ entries, goesOn }: Run): void {
    const waiting = new Map<string, JsonObject>();
    for (const entry of entries) {
      const isPaused = entry.paused && entry === entries.at(-1);
      /** Uses that may lack a result at the end of the message. */
      const mayLackResult = new Set<string>();
      for (const block of entry.content) {
        if (block === undefined) continue;
        const id = useId(block);
        if (id !== undefined && !this.#ids.has(id) && !waiting.has(id)) waiting.set(id, block);
        if (id !== undefined && isPaused && waiting.get(id) === block) mayLackResult.add(id);
        const caller = callerId(block);
        if (caller !== undefined) mayLackResult.add(caller);
        this.#answer(block, waiting);
      }
      for (const id of waiting.keys()) if (!mayLackResult.has(id)) waiting.delete(id);
    }
    if (goesOn) for (const [id, block] of waiting) this.#keep(id, block);
  }

  #answer(block: JsonObject, waiting: Map<string, JsonObject>): void {
    const id = resultId(block);
    const use = id === undefined ? undefined : waiting.get(id);
    if (id === undefined || use === undefined || !refersTo(block, this.#declared)) return;
    waiting.delete(id);
    this.#keep(id, use);
    this.#kept.add(block);
  }

  #keep(id: string, use: JsonObject): void {
    this.#kept.add(use);
    this.#ids.add(id);
  }

  allowed(block: JsonObject | undefined): JsonObject | undefined {
    if (block === undefined) return undefined;
    if (useId(block) !== undefined || resultId(block) !== undefined) {
      return this.#kept.has(block) ? block : undefined;
    }
    const caller = callerId(block);
    if (caller === undefined || this.#ids.has(caller)) return block;
    const { caller: _, ...rest } = block;
    return rest;
  }
}

function useId(block: JsonObject): string | undefined {
  const type = textAt(block, "type") ?? "";
  return type.endsWith("_tool_use") ? (textAt(block, "id") ?? "") : undefined;
}

function resultId(block: JsonObject): string | undefined {
  const type = textAt(block, "type") ?? "";
  return type.endsWith("_tool_result") ? (textAt(block, "tool_use_id") ?? "") : undefined;
}

/** The id of the server tool that made this call of a client tool. */
function callerId(block: JsonObject): string | undefined {
  return block["type"] === "tool_use"
    ? textAt(objectAt(block, "caller") ?? {}, "tool_id")
    : undefined;
}

/** True if every tool that a tool search found is declared. The vendor refuses other names. */
function refersTo(block: JsonObject, declared: ReadonlySet<string> | undefined): boolean {
  if (block["type"] !== "tool_search_tool_result" || declared === undefined) return true;
  const found = listAt(objectAt(block, "content") ?? {}, "tool_references");
  return found.filter(isJsonObject).every((row) => declared.has(textAt(row, "tool_name") ?? ""));
}

import { packEpoch } from "@millrace/core/ports";
import { schemaVersion } from "@millrace/core/wire";
import { callId, itemId, partId, runId, sessionId, turnId } from "@millrace/core/writing";
import type { Delta, Item, LiveEvent, Part, RunEvent } from "@millrace/core";
import type { LiveEnvelope } from "@millrace/core/reading";
import type { FactBody } from "@millrace/core/writing";

export const run = runId("run_1");
export const turn = turnId("turn_1");
export const reply = itemId("item_1");
export const call = callId("call_1");

export function epochOf(attempt: number, generation = 1): number {
  return packEpoch({ incarnation: 1, generation, attempt });
}

export interface EventIds {
  readonly session?: string;
  readonly lane?: number;
  readonly attempt?: number;
  readonly generation?: number;
  readonly item?: string;
  readonly time?: number;
}

/** A live event, by default of the first attempt at the reply. */
export function live(event: LiveEvent, at: EventIds = {}): LiveEvent & LiveEnvelope {
  const { session = "s", lane = 0, attempt = 1, generation = 1, item = "item_1", time = 0 } = at;
  return {
    ...event,
    sessionId: sessionId(session),
    runId: run,
    turnId: turn,
    itemId: itemId(item),
    lane,
    epoch: epochOf(attempt, generation),
    time,
  };
}

/** Facts of sessions, numbered in the order in which they are made. */
export class Facts {
  readonly #heads = new Map<string, number>();

  make(body: FactBody, at: { readonly session?: string; readonly time?: number } = {}): RunEvent {
    const { session = "s", time = 0 } = at;
    const n = (this.#heads.get(session) ?? 0) + 1;
    this.#heads.set(session, n);
    return { ...body, v: schemaVersion, n, sessionId: sessionId(session), time };
  }
}

export function delta(given: Delta, at: EventIds = {}): RunEvent {
  return live({ type: "content_delta", delta: given }, at);
}

export function begin(kind: "text" | "reasoning", at: EventIds = {}, id = "p1"): RunEvent {
  return delta({ op: "begin_part", partId: partId(id), kind }, at);
}

export function append(chunk: string, at: EventIds = {}, id = "p1"): RunEvent {
  return delta({ op: "append_text", partId: partId(id), chunk }, at);
}

export function opened(at: EventIds = {}): RunEvent {
  return live({ type: "attempt_started", author: "model", model: "openai-chat/gpt-5" }, at);
}

export function text(words: string, id = "p1"): Part {
  return { kind: "text", id: partId(id), text: words };
}

export function item(parts: readonly Part[], more: Partial<Item> = {}): Item {
  // Tests give what belongs together.
  return { id: reply, author: "model", parts, stop: "end", ...more } as Item;
}

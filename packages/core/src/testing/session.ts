import type { Item } from "../content/item.ts";
import type { Part } from "../content/part.ts";
import type { Delta } from "../delta/delta.ts";
import { apply } from "../event/apply.ts";
import type { Batch } from "../event/batch.ts";
import { packEpoch } from "../event/epoch.ts";
import { schemaVersion } from "../event/event.ts";
import type { Fact, FactBody, LiveEvent } from "../event/event.ts";
import { emptyState } from "../event/state.ts";
import type { SessionState } from "../event/state.ts";
import { callId, itemId, partId, runId, sessionId, sessionUid, turnId } from "../ids.ts";
import type { JsonObject } from "../json.ts";

export const run = runId("run_1");
export const turn = turnId("turn_1");
const session = sessionId("s");
export const empty: SessionState = emptyState(sessionUid("u"), session);
const ids = { sessionId: session, runId: run, turnId: turn };

/** The facts of the given bodies, numbered from `first`. */
export function facts(first: number, ...bodies: readonly FactBody[]): readonly Fact[] {
  return bodies.map((body, at) => ({
    ...body,
    v: schemaVersion,
    n: first + at,
    sessionId: session,
    time: 0,
  }));
}

export interface At {
  readonly lane?: number;
  readonly attempt?: number;
  readonly item?: string;
  readonly first?: number;
  readonly head?: number;
}

/** A batch of one lane. Its last number is that of its last event. */
export function batch(events: readonly LiveEvent[], at: At = {}): Batch {
  const { lane = 0, attempt = 1, item = "item_1", first = 0, head = 0 } = at;
  const epoch = packEpoch({ incarnation: 1, generation: 1, attempt });
  const last = first + events.length - 1;
  return {
    v: schemaVersion,
    ...ids,
    itemId: itemId(item),
    lane,
    epoch,
    first,
    last,
    head,
    time: 0,
    events,
  };
}

export function epochOf(attempt: number): number {
  return packEpoch({ incarnation: 1, generation: 1, attempt });
}

export const opening: LiveEvent = { type: "attempt_started", author: "model" };

export function deltas(...list: readonly Delta[]): readonly LiveEvent[] {
  return list.map((delta) => ({ type: "content_delta", delta }));
}

export function applied(
  messages: readonly (Fact | Batch)[],
  state: SessionState = empty,
): SessionState {
  return messages.reduce((current, message) => {
    const next = apply(current, message);
    if (next.verdict !== "applied") throw new Error(`${next.verdict}: ${JSON.stringify(message)}`);
    return next.state;
  }, state);
}

export function item(id: string, author: Item["author"], parts: readonly Part[]): Item {
  return { id: itemId(id), author, parts, stop: "end" };
}

export function text(words: string, id = "p1"): Part {
  return { kind: "text", id: partId(id), text: words };
}

export function toolCall(call: string, input: JsonObject = {}, id = call): Part {
  return {
    kind: "tool_call",
    id: partId(id),
    callId: callId(call),
    tool: "search",
    raw: JSON.stringify(input),
    input,
  };
}

export function toolResult(
  call: string,
  more: Partial<Extract<Part, { kind: "tool_result" }>> = {},
): Part {
  return {
    kind: "tool_result",
    id: partId("result"),
    callId: callId(call),
    tool: "search",
    status: "ok",
    text: "",
    ...more,
  };
}

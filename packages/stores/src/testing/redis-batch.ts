import { packEpoch } from "@millrace/core/ports";
import type { Batch, Epoch } from "@millrace/core/ports";
import { itemId, partId, runId, sessionId, sessionUid, turnId } from "@millrace/core/writing";
import type { LiveEvent, SessionUid } from "@millrace/core";

/** A session that no other test has. */
export function newUid(): SessionUid {
  return sessionUid(`test_${crypto.randomUUID()}`);
}

export function epochOf(attempt: number): Epoch {
  return packEpoch({ incarnation: 1, generation: 1, attempt });
}

/** A legal batch of one number, or from 0 up to one. */
export function batchAt(attempt: number, first: number, last: number = first, lane = 0): Batch {
  const opening: LiveEvent = { type: "attempt_started", author: "model", model: "scripted/one" };
  const text: LiveEvent = {
    type: "content_delta",
    delta: { op: "append_text", partId: partId("part_1"), chunk: `${attempt}:${last} ` },
  };
  return {
    v: 1,
    sessionId: sessionId("talk"),
    runId: runId("run_1"),
    turnId: turnId("turn_1"),
    itemId: itemId(`item_${lane}`),
    lane,
    epoch: epochOf(attempt),
    first,
    last,
    head: 3,
    time: 1_700_000_000_000 + last,
    events: first === 0 ? [opening] : [text],
  };
}

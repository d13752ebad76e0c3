import { coalesce } from "@millrace/core/writing";
import type { Delta, RunEvent } from "@millrace/core";
import type { LiveEnvelope } from "@millrace/core/reading";

/** Merged text and bytes stop growing here, so that an entry of a queue has a size. */
const mergedSize = { text: 4_096, bytes: 65_536 };

/** The attempt that a live event is of. */
export function attemptOf({ sessionId, lane, epoch }: LiveEnvelope): string {
  return `${lane} ${epoch} ${sessionId}`;
}

/**
 * The same events, with neighbouring deltas of one part merged without loss. Neighbours are those of
 * one attempt with no other event of it between them: lanes have no order among each other, so what
 * other lanes said meanwhile does not part them. A fact does. A merged delta stands where its first
 * one stood, with that one's time. Linear.
 */
export function mergeEvents(events: readonly RunEvent[]): readonly RunEvent[] {
  const groups: Group[] = [];
  const last = new Map<string, Group>();
  for (const event of events) {
    if ("n" in event) {
      last.clear();
      groups.push({ event, deltas: [] });
      continue;
    }
    const attempt = attemptOf(event);
    const delta = event.type === "content_delta" ? event.delta : undefined;
    const group = last.get(attempt);
    if (delta !== undefined && group?.event.type === "content_delta") group.deltas.push(delta);
    else {
      const next = { event, deltas: delta === undefined ? [] : [delta] };
      last.set(attempt, next);
      groups.push(next);
    }
  }
  return groups.flatMap(merged);
}

interface Group {
  readonly event: RunEvent;
  /** Of one attempt, in order, with nothing else between them. */
  readonly deltas: Delta[];
}

function merged({ event, deltas }: Group): readonly RunEvent[] {
  if (event.type !== "content_delta" || deltas.length < 2) return [event];
  return coalesce(deltas, mergedSize).map((delta) => ({ ...event, delta }));
}

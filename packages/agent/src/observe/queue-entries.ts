import { coalesce } from "@millrace/core/writing";
import type { Delta, LiveEvent, RunEvent } from "@millrace/core";
import type { LiveEnvelope } from "@millrace/core/reading";

/** The most text and bytes of a merged delta, so that each entry of a queue has a bounded size. */
const mergedSize = { text: 4_096, bytes: 65_536 };

/** True for an event of an attempt, which is neither a fact nor an event of this process alone. */
export function isLive(event: RunEvent): event is LiveEvent & LiveEnvelope {
  return "epoch" in event && !("n" in event);
}

/** A key for the attempt that a live event belongs to. */
export function attemptOf({ sessionId, lane, epoch }: LiveEnvelope): string {
  return `${lane} ${epoch} ${sessionId}`;
}

/**
 * Merges neighbouring deltas of one part without loss. Two deltas are neighbours if no other event of
 * their attempt and no fact is between them. Events of other lanes may be between, because lanes have
 * no order among each other. A merged delta has the place and time of its first. Linear.
 */
export function mergeEvents(events: readonly RunEvent[]): readonly RunEvent[] {
  const groups: Group[] = [];
  const last = new Map<string, Group>();
  for (const event of events) {
    if (!isLive(event)) {
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
  /** Neighbouring deltas of one attempt, in order. */
  readonly deltas: Delta[];
}

function merged({ event, deltas }: Group): readonly RunEvent[] {
  if (event.type !== "content_delta" || deltas.length < 2) return [event];
  return coalesce(deltas, mergedSize).map((delta) => ({ ...event, delta }));
}

import type { RunEvent } from "@millrace/core";

/**
 * A frozen form of the event, so that no observer can change what others see. Deltas of appended text
 * and begun parts, which are nearly all events, have only strings and numbers and are frozen in place.
 * All other events share objects with drafts, items and inputs of tools, so they are copied first. The
 * copy costs by the number of values, not by the length of strings.
 */
export function withoutHandles(event: RunEvent): RunEvent {
  if (event.type !== "content_delta") return frozenCopy(event);
  const { delta } = event;
  if (delta.op === "append_text" || delta.op === "begin_part") {
    Object.freeze(delta);
    return Object.freeze(event);
  }
  return frozenCopy(event);
}

/** True if the event has bytes. They can't be frozen, so each observer gets a copy of its own. */
export function holdsBytes(event: RunEvent): boolean {
  switch (event.type) {
    case "content_delta": {
      const { delta } = event;
      if (delta.op === "append_bytes") return true;
      return delta.op === "commit_part" && hasBytes(delta.part);
    }
    case "item_committed":
    case "item_replaced":
      return event.item.parts.some(hasBytes);
    case "input_accepted":
      return "parts" in event.input && event.input.parts.some(hasBytes);
    default:
      return false;
  }
}

/** A copy of the event with copied bytes. */
export function withOwnBytes(event: RunEvent): RunEvent {
  return frozenCopy(event);
}

function hasBytes(part: object): boolean {
  return "bytes" in part && part.bytes !== undefined;
}

/** Events are plain data: objects, lists, bytes and primitives, without cycles. */
function frozenCopy<T>(value: T): T {
  return copyOf(value) as T; // a copy has the shape of what it was made from
}

function copyOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array) return value.slice();
  if (Array.isArray(value)) return Object.freeze(value.map(copyOf));
  // `fromEntries` copies a key such as `__proto__` as an ordinary key.
  return Object.freeze(
    Object.fromEntries(Object.entries(value).map(([key, held]) => [key, copyOf(held)])),
  );
}

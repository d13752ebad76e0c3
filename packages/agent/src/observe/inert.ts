import type { RunEvent } from "@millrace/core";

/**
 * The event, so that nobody can change through it what others see. Appended text, begun parts and
 * what else of a live event is made of strings and numbers alone are frozen in place: a shallow
 * freeze reaches all of them, and they are nearly all there is. Everything else shares values with
 * drafts, items and the inputs of tools, which belong to others and must stay as they are, so it is
 * copied first. Strings are shared by a copy: it costs by the part, not by the character.
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

/** Whether there are bytes in it. They can't be frozen, so each observer is given its own. */
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

/** The same with bytes of its own. */
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
  // Made from entries, so that a key such as `__proto__` is a key like others.
  return Object.freeze(
    Object.fromEntries(Object.entries(value).map(([key, held]) => [key, copyOf(held)])),
  );
}

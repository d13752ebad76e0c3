import { coalesce } from "../delta/coalesce.ts";
import type { Delta } from "../delta/delta.ts";
import type { LiveEvent } from "../event/event.ts";
import type { PartId } from "../ids.ts";

/**
 * What a lane writer has taken and not yet appended to the log, in order. Text for one part is joined
 * as it comes, at the cost of adding strings; all else is merged when it is taken out.
 */
export class Gathered {
  #events: LiveEvent[];
  /** Text that follows the events, all of one part. */
  #textRun: { readonly partId: PartId; text: string } | undefined;
  #size = 0;

  constructor(opening: LiveEvent) {
    this.#events = [opening];
  }

  get isEmpty(): boolean {
    return this.#events.length === 0 && this.#textRun === undefined;
  }

  /** In UTF-16 units or bytes; each delta counts for at least one. */
  get size(): number {
    return this.#size;
  }

  addDelta(delta: Delta): void {
    this.#size += Math.max(1, sizeOf(delta));
    if (delta.op !== "append_text") this.#push({ type: "content_delta", delta });
    else if (this.#textRun?.partId === delta.partId) this.#textRun.text += delta.chunk;
    else {
      this.#endRun();
      this.#textRun = { partId: delta.partId, text: delta.chunk };
    }
  }

  /** Adds an event that is not content. */
  addEvent(event: LiveEvent): void {
    this.#size += sizeOfEvent(event);
    this.#push(event);
  }

  /** Returns all events, merged, and is empty afterwards. */
  takeAll(): readonly LiveEvent[] {
    this.#endRun();
    const events = coalesceEvents(this.#events);
    this.#events = [];
    this.#size = 0;
    return events;
  }

  #push(event: LiveEvent): void {
    this.#endRun();
    this.#events.push(event);
  }

  #endRun(): void {
    if (this.#textRun === undefined) return;
    const { partId, text } = this.#textRun;
    this.#textRun = undefined;
    const delta: Delta = { op: "append_text", partId, chunk: text };
    this.#events.push({ type: "content_delta", delta });
  }
}

/** How long the content of these events is, in UTF-16 units or bytes, and what the rest counts for. */
export function sizeOfEvents(events: readonly LiveEvent[]): number {
  return events.reduce((sum, event) => sum + sizeOfEvent(event), 0);
}

/** Merges the deltas between other events. */
function coalesceEvents(events: readonly LiveEvent[]): readonly LiveEvent[] {
  const merged: LiveEvent[] = [];
  let deltas: Delta[] = [];
  const close = (): void => {
    for (const delta of coalesce(deltas)) merged.push({ type: "content_delta", delta });
    deltas = [];
  };
  for (const event of events) {
    if (event.type === "content_delta") deltas.push(event.delta);
    else {
      close();
      merged.push(event);
    }
  }
  close();
  return merged;
}

function sizeOfEvent(event: LiveEvent): number {
  return event.type === "content_delta" ? sizeOf(event.delta) : 16;
}

function sizeOf(delta: Delta): number {
  if (delta.op === "append_text" || delta.op === "append_bytes") return delta.chunk.length;
  if (delta.op !== "commit_part") return 64;
  return "text" in delta.part
    ? delta.part.text.length
    : "raw" in delta.part
      ? delta.part.raw.length
      : 64;
}

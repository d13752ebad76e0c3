import { createBatchEncoder, decodeMessage, parseJsonText } from "@millrace/core/wire";
import type { LiveEvent, PartId } from "@millrace/core";
import type { Batch } from "@millrace/core/ports";
import { entryId } from "./keys.ts";
import { macLength } from "./seal.ts";
import type { Seal } from "./seal.ts";

/** An entry of a lane's stream. */
export interface Entry {
  readonly id: string;
  /** Alternating names and values. */
  readonly fields: readonly string[];
}

/** The reply to XRANGE: pairs of an id and its fields. */
export function entriesOf(reply: unknown): readonly Entry[] {
  return (reply as readonly (readonly [string, readonly string[]])[]).map(([id, fields]) => ({
    id,
    fields,
  }));
}

/** What a short entry leaves out. It has none of the lane's text, so it may be kept. */
export interface Heading extends Omit<Batch, "first" | "last" | "events"> {
  /** The part of the last event before. */
  readonly part: PartId | undefined;
}

/** The heading that follows a whole entry. */
export function headingOf(batch: Batch): Heading {
  const { v, sessionId, runId, turnId, itemId, lane, epoch, head, time, events } = batch;
  const part = lastPart(events);
  return { v, sessionId, runId, turnId, itemId, lane, epoch, head, time, part };
}

/** The heading that follows a short entry. */
export function headingAfter(heading: Heading, { events }: Batch): Heading {
  const part = lastPart(events);
  return part === heading.part ? heading : { ...heading, part };
}

function lastPart(events: readonly LiveEvent[]): PartId | undefined {
  const event = events.at(-1);
  return event?.type === "content_delta" ? event.delta.partId : undefined;
}

/**
 * A batch as a short entry: its MAC, the time since the last whole entry in base 36, and its events as
 * JSON. Of one text for the part before, it has the text alone. All else is as in the whole entry, or in the
 * id. The MAC is that of the whole batch, so it covers what is left out, and costs the writer nothing.
 *
 * `sealed` is the batch as it is published. Undefined if it has to be stored whole: its heading is another one.
 */
export function shortEntry(sealed: string, batch: Batch, heading: Heading): string | undefined {
  const { first, last, time, events } = batch;
  const after = time - heading.time;
  if (first === 0 || !Number.isSafeInteger(after) || !hasHeading(batch, heading)) return undefined;
  const start = sealed.slice(0, macLength) + after.toString(36);
  const [event] = events;
  if (first === last && events.length === 1 && event?.type === "content_delta") {
    const { delta } = event;
    if (delta.op === "append_text" && delta.partId === heading.part) {
      return start + JSON.stringify(delta.chunk);
    }
  }
  const list = sealed.slice(sealed.indexOf(listStart) + listStart.length - 1, -1);
  return `${start}.${(last - first).toString(36)}${list}`;
}

/** Stands before a batch's events, which are its last field. A quote within a text is escaped. */
const listStart = '"events":[';
/** A MAC, a time in base 36, and either a text, or a count in base 36 and events. */
const shortForm = /^([\w-]{22})(-?[0-9a-z]{1,11})(?:(".*")|\.([0-9a-z]{1,11})(\[.*\]))$/s;

/**
 * Decodes the entries of one lane, in their order. A short entry takes its heading from the last whole one
 * of its epoch. The batch that results has to fit the MAC, exactly as if it were stored whole, before any
 * of it is parsed. So it opens in its own lane, epoch and place only, and under its own heading.
 */
export class EntryDecoder {
  readonly #seal: Seal;
  readonly #lane: number;
  /** Writes what a heading has once, not for each entry. */
  readonly #encode = createBatchEncoder();
  #heading: Heading | undefined;

  constructor(seal: Seal, lane: number) {
    this.#seal = seal;
    this.#lane = lane;
  }

  /** Whether the entry may be a short one whose heading was not decoded. */
  lacksHeading({ id, fields }: Entry): boolean {
    return this.#heading?.epoch !== placeOf(id).epoch && shortForm.test(fields[1] ?? "");
  }

  /** Undefined for an entry without the seal, of another lane, under another id, or without its heading. */
  decode({ id, fields }: Entry): Batch | undefined {
    const [, value = ""] = fields;
    const short = shortForm.exec(value);
    const batch = short === null ? decodeSealed(this.#seal, value) : this.#lengthen(id, short);
    if (batch?.lane !== this.#lane || entryId(batch) !== id) return undefined;
    const heading = short === null ? undefined : this.#heading;
    this.#heading = heading === undefined ? headingOf(batch) : headingAfter(heading, batch);
    return batch;
  }

  /** The batch that a short entry stands for, if the entry is true. */
  #lengthen(id: string, short: readonly (string | undefined)[]): Batch | undefined {
    const { epoch, last } = placeOf(id);
    if (this.#heading?.epoch !== epoch) return undefined;
    const { part, ...shared } = this.#heading;
    const [, mac = "", after = "", chunk, more = "0", list] = short;
    const time = shared.time + Number.parseInt(after, 36);
    const first = last - Number.parseInt(more, 36);
    const batch = { ...shared, first, last, time };
    if (list !== undefined) {
      const line = replaceEnd(this.#encode({ ...batch, events: [] }), "[]", list);
      return decodeSealed(this.#seal, mac + line);
    }
    if (chunk === undefined || part === undefined) return undefined;
    const line = replaceEnd(this.#encode({ ...batch, events: eventsOf(part, "") }), '""', chunk);
    if (this.#seal.open("batch", mac + line) === undefined) return undefined;
    // The MAC says that a writer has encoded exactly this batch, so that only its text is left to be read.
    const text = parseJsonText(chunk);
    return typeof text === "string" ? { ...batch, events: eventsOf(part, text) } : undefined;
  }
}

function eventsOf(partId: PartId, chunk: string): readonly LiveEvent[] {
  return [{ type: "content_delta", delta: { op: "append_text", partId, chunk } }];
}

/** Puts a text in the place of the last occurrence of another. */
function replaceEnd(line: string, old: string, text: string): string {
  const at = line.lastIndexOf(old);
  return line.slice(0, at) + text + line.slice(at + old.length);
}

function decodeSealed(seal: Seal, sealed: string): Batch | undefined {
  const text = seal.open("batch", sealed);
  if (text === undefined) return undefined;
  const decoded = decodeMessage(text);
  return decoded.ok && "first" in decoded.value ? decoded.value : undefined;
}

/** What the id of an entry says. */
function placeOf(id: string): { readonly epoch: number; readonly last: number } {
  const [epoch = NaN, last = NaN] = id.split("-").map(Number);
  return { epoch, last };
}

/** Whether a batch differs from a whole one in its numbers, time and events only. */
function hasHeading(batch: Batch, heading: Heading): boolean {
  return (
    batch.itemId === heading.itemId &&
    batch.epoch === heading.epoch &&
    batch.lane === heading.lane &&
    batch.head === heading.head &&
    batch.turnId === heading.turnId &&
    batch.runId === heading.runId &&
    batch.sessionId === heading.sessionId &&
    batch.v === heading.v
  );
}

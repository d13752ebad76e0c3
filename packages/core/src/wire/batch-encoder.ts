import type { Batch } from "../event/batch.ts";
import type { LiveEvent } from "../event/event.ts";
import type { PartId } from "../ids.ts";
import { encodeMessage } from "./message-codec.ts";

/** Writes one batch as one line of JSON. */
export type BatchEncoder = (batch: Batch) => string;

/**
 * Writes the batches of one lane, each as `encodeMessage` writes it, at less than half of the cost.
 * What one batch of text shares with the next is encoded once and cached. Batches of other lanes, and
 * events that are not text, give the same result, only slower.
 */
export function createBatchEncoder(): BatchEncoder {
  let last: Batch | undefined;
  let place = "";
  let part: PartId | undefined;
  let opening = "";
  return (batch) => {
    const { first, head, time, events } = batch;
    if (!events.every(isText)) return encodeMessage(batch);
    if (last === undefined || !sharesHeader(last, batch)) {
      place = headerText(batch);
      last = { ...batch, events: [] };
    }
    let line = `${place},"first":${first},"last":${batch.last},"head":${head},"time":${time},"events":[`;
    let comma = "";
    for (const { delta } of events) {
      if (delta.partId !== part) {
        part = delta.partId;
        opening = openingText(batch, part);
      }
      line += comma + opening + JSON.stringify(delta.chunk) + ending;
      comma = ",";
    }
    return `${line}]}`;
  };
}

type ContentDelta = Extract<LiveEvent, { readonly type: "content_delta" }>;
type TextDelta = ContentDelta & {
  readonly delta: Extract<ContentDelta["delta"], { readonly op: "append_text" }>;
};

function isText(event: LiveEvent): event is TextDelta {
  return event.type === "content_delta" && event.delta.op === "append_text";
}

function sharesHeader(one: Batch, other: Batch): boolean {
  return (
    one.itemId === other.itemId &&
    one.epoch === other.epoch &&
    one.lane === other.lane &&
    one.sessionId === other.sessionId &&
    one.runId === other.runId &&
    one.turnId === other.turnId &&
    one.v === other.v
  );
}

/** What stands before a batch's numbers. A quote within a text is escaped, so the mark is not found in one. */
function headerText(batch: Batch): string {
  const line = encodeMessage({ ...batch, events: [] });
  return line.slice(0, line.indexOf(',"first":'));
}

const start = '"events":[';
const ending = "}}";

/** What stands before a text, from the beginning of its event. */
function openingText(batch: Batch, partId: PartId): string {
  const delta = { op: "append_text", partId, chunk: "" } as const;
  const line = encodeMessage({ ...batch, events: [{ type: "content_delta", delta }] });
  const empty = `""${ending}]}`;
  return line.slice(line.indexOf(start) + start.length, line.length - empty.length);
}

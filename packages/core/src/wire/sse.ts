import { MillraceError } from "../errors.ts";

/** One server-sent event. */
export interface SseEvent {
  readonly data: string;
  /** The event's type. Left out: `message`. */
  readonly event?: string | undefined;
  readonly id?: string | undefined;
  /** How long a client waits before it reconnects, in milliseconds. */
  readonly retry?: number | undefined;
}

/**
 * The one SSE encoder. Data may hold anything: each of its lines goes into a field of its own. An id
 * or type that would end its line is a broken contract and throws: such a text could forge an event.
 */
export function encodeSse({ data, event, id, retry }: SseEvent): string {
  let frame = "";
  if (event !== undefined) frame += `event: ${oneLine(event, "type")}\n`;
  if (id !== undefined) frame += `id: ${oneLine(id, "id")}\n`;
  if (retry !== undefined) frame += `retry: ${Math.max(0, Math.trunc(retry))}\n`;
  for (const line of data.split(/\r\n|\r|\n/)) frame += `data: ${line}\n`;
  return `${frame}\n`;
}

/** A line that clients ignore: it keeps the connection alive, carries no id and moves no cursor. */
export function encodeSseComment(text = ""): string {
  return `: ${oneLine(text, "comment")}\n\n`;
}

function oneLine(text: string, field: string): string {
  if (/[\r\n\0]/.test(text)) {
    const shown = JSON.stringify(text.slice(0, 40));
    throw new MillraceError(
      "invalid_frame",
      `an SSE ${field} must be one line without NUL, not ${shown}`,
    );
  }
  return text;
}

/** What a decoder makes of the text it was fed. */
export type SseItem =
  | { readonly kind: "event"; readonly event: string; readonly data: string; readonly id: string }
  | { readonly kind: "retry"; readonly ms: number }
  /** An event beyond the limit. Nothing more comes: the stream can't be trusted any further. */
  | { readonly kind: "overflow" };

/** Reads server-sent events from text that comes in pieces. */
export interface SseDecoder {
  /** Takes text as it comes, cut anywhere. Cut characters are the business of a streaming TextDecoder. */
  readonly feed: (chunk: string) => readonly SseItem[];
}

export interface SseDecoderOptions {
  /** The longest event, in UTF-16 units. */
  readonly limit?: number | undefined;
}

/** A longer wait than this would look like a dead client. */
const maxRetryMs = 30_000;

/**
 * Decodes server-sent events by the WHATWG grammar: CR, LF and CRLF, a byte order mark, comments,
 * several data lines, ids with NUL ignored. Linear in the text, and bounded.
 */
export function createSseDecoder({ limit = 64 * 1024 * 1024 }: SseDecoderOptions = {}): SseDecoder {
  /** The line that has begun, in pieces: adding them up at each chunk would be quadratic. */
  let line: string[] = [];
  let data: string[] = [];
  let held = 0;
  let type = "";
  let id = "";
  let started = false;
  let afterCr = false;
  let over = false;

  const endLine = (text: string, items: SseItem[]): void => {
    if (text === "") {
      if (data.length > 0)
        items.push({
          kind: "event",
          event: type === "" ? "message" : type,
          data: data.join("\n"),
          id,
        });
      data = [];
      held = 0;
      type = "";
      return;
    }
    const colon = text.indexOf(":");
    const name = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? "" : text.slice(text[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "data") {
      data.push(value);
      return;
    }
    held -= text.length; // only data waits for the blank line
    if (name === "event") type = value;
    else if (name === "id" && !value.includes("\0")) id = value;
    else if (name === "retry" && /^[0-9]+$/.test(value)) {
      items.push({ kind: "retry", ms: Math.min(Number(value), maxRetryMs) });
    }
  };

  const feed = (chunk: string): readonly SseItem[] => {
    const items: SseItem[] = [];
    if (over || chunk === "") return items;
    let at = !started && chunk.startsWith("\uFEFF") ? 1 : 0;
    started = true;
    // A CR at the end of a chunk may be half of a CRLF whose LF is here. It has ended its line already.
    if (afterCr && chunk[at] === "\n") at += 1;
    afterCr = chunk.endsWith("\r");
    const ends = /\r\n|\r|\n/g;
    ends.lastIndex = at;
    for (let end = ends.exec(chunk); end !== null; end = ends.exec(chunk)) {
      held += end.index - at;
      if (held > limit) break;
      line.push(chunk.slice(at, end.index));
      endLine(line.length === 1 ? (line[0] as string) : line.join(""), items);
      line = [];
      at = ends.lastIndex;
    }
    if (held <= limit) {
      line.push(chunk.slice(at));
      held += chunk.length - at;
    }
    if (held > limit) {
      over = true;
      line = [];
      data = [];
      items.push({ kind: "overflow" });
    }
    return items;
  };
  return { feed };
}

import { isJsonObject, parseJsonText } from "@millrace/core/json";
import { createParser } from "eventsource-parser";
import type { EventSourceMessage, EventSourceParser } from "eventsource-parser";
import { failure } from "../failure.ts";
import { ErrorLines } from "./error-lines.ts";
import type { Framed, Framer, Framing, VendorEvent } from "./framing.ts";
import { TemplateReader } from "./template.ts";
import { Utf8Reader } from "./utf8.ts";

/** Bounds of the framing of server-sent events. */
export interface SseFramingOptions {
  /**
   * The length limit of an event, in UTF-16 units. 16 times as much may come without an event: lines
   * without a known field are dropped, and a vendor that sends nothing else is cut.
   */
  readonly limit?: number | undefined;
  /** False parses every event in full, without templates. */
  readonly templates?: boolean | undefined;
}

/** JSON in server-sent events, by the WHATWG grammar, with the sentinel `[DONE]`. */
export function sseFraming({
  limit = 4 * 1024 * 1024,
  templates = true,
}: SseFramingOptions = {}): Framing<VendorEvent> {
  return {
    mediaType: "text/event-stream",
    open: () => new SseFramer(limit, templates ? new TemplateReader() : undefined),
  };
}

class SseFramer implements Framer<VendorEvent> {
  readonly #limit: number;
  readonly #templates: TemplateReader | undefined;
  readonly #text = new Utf8Reader();
  readonly #errorLines = new ErrorLines();
  readonly #parser: EventSourceParser;
  readonly #blocks = new BlockCutter();
  /** The event that the parser is given, if it is whole. */
  #block: string | undefined;
  #take: (framed: Framed<VendorEvent>) => void = () => undefined;
  #closed = false;
  /** What came since the last event or comment: the parser drops lines that have no known field. */
  #silent = 0;
  #reportedLossy = false;

  constructor(limit: number, templates: TemplateReader | undefined) {
    this.#limit = limit;
    this.#templates = templates;
    this.#parser = createParser({
      maxBufferSize: limit,
      onEvent: (message) => this.#give(readEvent(message, this.#block, templates)),
      onComment: () => this.#give(alive),
      onRetry: () => this.#give(alive),
      onError: ({ type, field, value = "" }) => {
        if (field === "error" && value !== "") this.#give(errorEvent(value));
        if (type !== "max-buffer-size-exceeded") return;
        this.#refuse(`an event is longer than ${limit} characters`);
      },
    });
  }

  feed(bytes: Uint8Array): readonly Framed<VendorEvent>[] {
    const framed: Framed<VendorEvent>[] = [];
    this.feedTo(bytes, (each) => void framed.push(each));
    return framed;
  }

  feedTo(bytes: Uint8Array, take: (framed: Framed<VendorEvent>) => void): void {
    this.#take = take;
    this.#feed(this.#text.read(bytes));
  }

  /** Some servers omit the last blank line. An event that was cut is not JSON and is dropped. */
  end(): readonly Framed<VendorEvent>[] {
    const framed: Framed<VendorEvent>[] = [];
    this.#take = (each) => void (each.kind === "bad_event" || framed.push(each));
    this.#feed(`${this.#text.end()}\n\n`);
    return framed;
  }

  #feed(piece: string): void {
    if (this.#closed) return;
    this.#silent += piece.length;
    if (this.#text.lossy && !this.#reportedLossy) {
      this.#reportedLossy = true;
      this.#give({ kind: "lossy" });
    }
    const text = piece === "" ? "" : this.#errorLines.read(piece);
    if (this.#templates !== undefined) this.#cut(text, this.#templates);
    else if (text !== "") this.#parser.feed(text);
    const most = 16 * this.#limit;
    if (this.#silent > most) this.#refuse(`${most} characters came without an event`);
  }

  #give(framed: Framed<VendorEvent>): void {
    this.#silent = 0;
    this.#take(framed);
  }

  /** Reads what is like an earlier event by its template, and gives the parser everything else. */
  #cut(piece: string, templates: TemplateReader): void {
    for (let at = 0; at < piece.length && !this.#closed;) {
      const isBetween = this.#blocks.isBetween;
      const event = isBetween ? templates.readBlock(piece, at) : undefined;
      if (event !== undefined) {
        this.#give({ kind: "event", event });
        at = templates.end;
        continue;
      }
      const end = this.#blocks.endFrom(piece, at);
      const lines = piece.slice(at, end);
      this.#block = isBetween && this.#blocks.isBetween ? lines : undefined;
      this.#parser.feed(lines);
      at = end;
    }
  }

  #refuse(message: string): void {
    this.#closed = true;
    this.#give({ kind: "fault", cause: failure("event_too_large", message) });
  }
}

/**
 * Finds the blank lines of a stream, however it is cut into pieces. A line that ends with a carriage
 * return is not found: such streams go to the parser as they come.
 */
class BlockCutter {
  /** True if the text so far ends with a blank line, so that the parser holds nothing. */
  isBetween = true;
  #endedLine = false;

  /** The index after the next blank line, or the end of the piece if there is none. */
  endFrom(piece: string, from: number): number {
    const splits = from === 0 && this.#endedLine && piece.charCodeAt(0) === lineFeed;
    const at = splits ? -1 : piece.indexOf("\n\n", from);
    this.isBetween = splits || at >= 0;
    const end = this.isBetween ? at + 2 : piece.length;
    this.#endedLine = !this.isBetween && piece.charCodeAt(end - 1) === lineFeed;
    return end;
  }
}

const lineFeed = 0x0a;

const alive: Framed<VendorEvent> = { kind: "alive" };
const openBracket = 0x5b;

/** A failure that llama.cpp reports in a field of its own, as the event that other servers send. */
function errorEvent(value: string): Framed<VendorEvent> {
  let error: unknown;
  try {
    error = parseJsonText(value);
  } catch {
    // It is plain text, or was cut.
  }
  const data = { error: isJsonObject(error) ? error : { message: value } };
  return { kind: "event", event: { name: "error", data } };
}

/** `block` is the text of the event, unless it came in pieces. */
function readEvent(
  { event, data }: EventSourceMessage,
  block: string | undefined,
  reader: TemplateReader | undefined,
): Framed<VendorEvent> {
  if (data === "") return alive;
  const name = event ?? "";
  if (data.charCodeAt(0) === openBracket && data.trim() === "[DONE]") {
    return { kind: "event", event: { name, data: undefined } };
  }
  try {
    const isWhole = block !== undefined;
    const value = reader === undefined ? parseJsonText(data) : reader.read(data, isWhole);
    if (isWhole) reader?.noteBlock(block, name, data);
    if (isJsonObject(value)) return { kind: "event", event: { name, data: value } };
  } catch {
    // Reported below, with the text.
  }
  const evidence = { event: name, data: data.slice(0, 512) };
  return { kind: "bad_event", cause: failure("bad_json", "an event is no JSON object", evidence) };
}

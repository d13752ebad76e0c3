import { isJsonObject, parseJsonText } from "@millrace/core/wire";
import { createParser } from "eventsource-parser";
import type { EventSourceMessage } from "eventsource-parser";
import { failure } from "../failure.ts";
import { ErrorLines } from "./error-lines.ts";
import type { Framed, Framing, VendorEvent } from "./framing.ts";
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
    open: () => {
      const text = new Utf8Reader();
      const lines = new ErrorLines();
      const reader = new TemplateReader();
      const parse = templates ? (data: string) => reader.read(data) : parseJsonText;
      let out: Framed<VendorEvent>[] = [];
      let closed = false;
      /** What came since the last event or comment: the parser drops lines that have no known field. */
      let silent = 0;
      const refuse = (message: string): void => {
        closed = true;
        out.push({ kind: "fault", cause: failure("event_too_large", message) });
      };
      let reportedLossy = false;
      const parser = createParser({
        maxBufferSize: limit,
        onEvent: (message) => void out.push(readEvent(message, parse)),
        onComment: () => void out.push(alive),
        onRetry: () => void out.push(alive),
        onError: ({ type, field, value = "" }) => {
          if (field === "error" && value !== "") out.push(errorEvent(value));
          if (type !== "max-buffer-size-exceeded") return;
          refuse(`an event is longer than ${limit} characters`);
        },
      });
      const feed = (piece: string): readonly Framed<VendorEvent>[] => {
        if (closed) return [];
        if (text.lossy && !reportedLossy) {
          reportedLossy = true;
          out.push({ kind: "lossy" });
        }
        if (piece !== "") parser.feed(lines.read(piece));
        silent = out.length > 0 ? 0 : silent + piece.length;
        if (silent > 16 * limit) refuse(`${16 * limit} characters came without an event`);
        const taken = out;
        if (taken.length > 0) out = [];
        return taken;
      };
      return {
        feed: (bytes) => feed(text.read(bytes)),
        // Some servers omit the last blank line. An event that was cut is not JSON and is dropped.
        end: () => feed(`${text.end()}\n\n`).filter(({ kind }) => kind !== "bad_event"),
      };
    },
  };
}

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

function readEvent(
  { event, data }: EventSourceMessage,
  parse: (data: string) => unknown,
): Framed<VendorEvent> {
  if (data === "") return alive;
  const name = event ?? "";
  if (data.charCodeAt(0) === openBracket && data.trim() === "[DONE]") {
    return { kind: "event", event: { name, data: undefined } };
  }
  try {
    const value = parse(data);
    if (isJsonObject(value)) return { kind: "event", event: { name, data: value } };
  } catch {
    // Reported below, with the text.
  }
  const evidence = { event: name, data: data.slice(0, 512) };
  return { kind: "bad_event", cause: failure("bad_json", "an event is no JSON object", evidence) };
}

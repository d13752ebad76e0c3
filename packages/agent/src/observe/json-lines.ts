import { encodeDelta, encodeMessage } from "@millrace/core/wire";
import type { LiveEvent, RunEvent } from "@millrace/core";
import type { LiveEnvelope } from "@millrace/core/reading";
import type { Observer } from "../definition/observer.ts";
import { writerTo } from "./write-to.ts";
import type { TextSink } from "./write-to.ts";

/**
 * Writes each event as one line of JSON, in one write: facts as they are on the wire, live events
 * with their place, bytes as base64. Nothing in an event's content ends a line, for any reader.
 */
export function jsonLines(sink: TextSink): Observer {
  const write = writerTo(sink);
  return (event) => write(`${jsonLine(event)}\n`);
}

/** The event as one line, without its end. */
function jsonLine(event: RunEvent): string {
  const json = "n" in event ? encodeMessage(event) : JSON.stringify(liveJson(event));
  return json.replaceAll(lineEnds, escaped);
}

/**
 * JSON leaves these as they are, and some readers of lines end a line at them. They stand inside of
 * strings only, where an escape means the same. The rest of the range is inert on terminals so.
 */
const lineEnds = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** As a batch would carry it: an event of a newer version goes on under its own type. */
function liveJson(event: LiveEvent & LiveEnvelope): object {
  if (event.type === "content_delta") return { ...event, delta: encodeDelta(event.delta) };
  if (event.type !== "opaque") return event;
  const { type: _, original, ...place } = event;
  return { ...original, ...place };
}

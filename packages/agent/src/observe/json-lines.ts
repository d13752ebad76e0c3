import { encodeDelta, encodeMessage } from "@millrace/core/wire";
import type { Fact, RunEvent } from "@millrace/core";
import type { Observer } from "../definition/observer.ts";
import { writerTo } from "./write-to.ts";
import type { TextSink } from "./write-to.ts";

/**
 * Writes each event as one line of JSON, in one write: facts in their wire form, live events with their
 * place, bytes as base64. All characters that any reader treats as a line end are escaped.
 */
export function jsonLines(sink: TextSink): Observer {
  const write = writerTo(sink);
  return (event) => write(`${jsonLine(event)}\n`);
}

/** The event as one line, without a line feed. */
function jsonLine(event: RunEvent): string {
  const json = "n" in event ? encodeMessage(event) : JSON.stringify(otherJson(event));
  return json.replaceAll(lineEnds, escaped);
}

/**
 * Characters that JSON does not escape, and that some readers treat as line ends or some terminals as
 * controls. They occur in strings only, where an escape means the same.
 */
const lineEnds = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** The event as it is in a batch. An event of a newer version keeps its own type. */
function otherJson(event: Exclude<RunEvent, Fact>): object {
  if (event.type === "content_delta") return { ...event, delta: encodeDelta(event.delta) };
  if (event.type !== "opaque") return event;
  const { type: _, original, ...place } = event;
  return { ...original, ...place };
}

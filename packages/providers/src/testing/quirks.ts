import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Json, JsonObject } from "@millrace/core";
import type { Expectation } from "./expectation.ts";

/**
 * What a server that people run sends in its own way, as a row of `quirks/<protocol>.json`, with the
 * public page that shows it. A fixture holds the exact bytes of a stream and has a golden of every
 * delta; a quirk is a short list of events of our own writing and names only what its row is about,
 * so that hundreds of them stay readable. The property tests read the streams of both.
 */
export interface Quirk {
  /** Unique in its file. */
  readonly name: string;
  /** The vendor, server or proxy that sends it. */
  readonly server: string;
  /** Public threads, sources or specifications. */
  readonly links: readonly string[];
  /** A true sentence in present tense: what the stream does and what becomes of it. */
  readonly about: string;
  /** Options of the protocol, such as `thinkTags`. */
  readonly options?: JsonObject;
  /** Names of the tools that the request offers. */
  readonly tools?: readonly string[];
  /**
   * The events in order, or the whole body as text. An object is the data of an event; on the
   * protocols whose events are named, its `type` is also the name. A string is a block of lines as
   * they are, such as `data: [DONE]` or `: comment`. A blank line follows each.
   */
  readonly stream: string | readonly (JsonObject | string)[];
  readonly expect: Expectation;
}

/** The protocols that have a file of quirks, or may get one. */
export const quirkProtocols = [
  "openai-chat",
  "openai-responses",
  "anthropic-messages",
  "gemini",
] as const;

/** The protocols that repeat the type of an event as its name. */
const namedEvents: ReadonlySet<string> = new Set(["openai-responses", "anthropic-messages"]);

/** The rows of a protocol. None if it has no file. */
export function quirksOf(protocol: string): readonly Quirk[] {
  const path = fileURLToPath(new URL(`../../quirks/${protocol}.json`, import.meta.url));
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as readonly Quirk[]) : [];
}

/** The bytes that the server of a quirk sends. */
export function quirkBytes(protocol: string, { stream }: Quirk): Uint8Array<ArrayBuffer> {
  const text =
    typeof stream === "string"
      ? stream
      : stream.map((event) => `${linesOf(event, namedEvents.has(protocol))}\n\n`).join("");
  return new TextEncoder().encode(text);
}

function linesOf(event: JsonObject | string, named: boolean): string {
  if (typeof event === "string") return event;
  const data = `data: ${JSON.stringify(event)}`;
  const type: Json | undefined = event["type"];
  return named && typeof type === "string" ? `event: ${type}\n${data}` : data;
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readSections } from "../../../../tests/kit/sections.ts";
import type { VendorTool } from "@millrace/core/model";
import { awsEventStream } from "../framing/aws-event-stream.ts";
import type { Framing, VendorEvent } from "../framing/framing.ts";
import { sseFraming } from "../framing/sse.ts";
import { awsBytes, awsChunks } from "./aws-streams.ts";
import { plainEvents } from "./encode/plain-events.ts";
import type { Expectation } from "./expectation.ts";
import { quirkBytes, quirksOf } from "./quirks.ts";

/** One recorded or hand-written stream of a vendor. */
export interface Scenario {
  /** Its bytes are the section of this name in `streams.txt`, its golden that in `deltas.txt`. */
  readonly name: string;
  /** The rows of the tables of quirks and bad input that it covers. */
  readonly rows: readonly string[];
  readonly about: string;
  /** Tools of vendors that the request offered. */
  readonly offers?: readonly VendorTool[];
  readonly expect: Expectation;
}

/** The files of a protocol's folder: what each scenario shows, its bytes, and its golden. */
export type FixtureFile = "scenarios.json" | "streams.txt" | "deltas.txt";

export function fixturePath(protocol: string, file: FixtureFile): string {
  return fileURLToPath(new URL(join("../../fixtures", protocol, file), import.meta.url));
}

export function scenariosOf(protocol: string): readonly Scenario[] {
  return JSON.parse(
    readFileSync(fixturePath(protocol, "scenarios.json"), "utf8"),
  ) as readonly Scenario[];
}

/** True for protocols whose streams are Amazon's binary messages. Their fixtures are lines of text. */
export function isBinary(protocol: string): boolean {
  return protocol.startsWith("bedrock-");
}

/** The framing that a protocol's streams have. */
export function framingOf(protocol: string): Framing<VendorEvent> {
  if (!isBinary(protocol)) return sseFraming();
  return awsEventStream({ payload: protocol === "bedrock-anthropic" ? "bytes" : "json" });
}

const streams = new Map<string, ReadonlyMap<string, Uint8Array>>();

/** The bytes of every stream of a protocol, by the names of the scenarios. */
function streamsOf(protocol: string): ReadonlyMap<string, Uint8Array> {
  const known = streams.get(protocol) ?? readStreams(protocol);
  streams.set(protocol, known);
  return known;
}

function readStreams(protocol: string): ReadonlyMap<string, Uint8Array> {
  const sections = readSections(fixturePath(protocol, "streams.txt"));
  if (!isBinary(protocol)) return sections;
  return new Map(Array.from(sections, ([name, bytes]) => [name, awsBytes(bytes)]));
}

export function bytesOf(protocol: string, name: string): Uint8Array<ArrayBuffer> {
  const bytes = streamsOf(protocol).get(name);
  if (bytes === undefined) throw new Error(`streams.txt of ${protocol} has no section ${name}`);
  return new Uint8Array(bytes);
}

export interface Recorded {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly offers?: readonly VendorTool[] | undefined;
}

/** Every stream in the fixtures and the quirks of a protocol. */
export function recordedStreams(protocol: string): readonly Recorded[] {
  if (protocol === "bedrock-anthropic") return wrappedStreams("anthropic-messages");
  const offers = new Map(scenariosOf(protocol).map((each) => [each.name, each.offers]));
  const fixtures = Array.from(streamsOf(protocol), ([name, bytes]) => ({
    name,
    bytes,
    offers: offers.get(name),
  }));
  const quirks = quirksOf(protocol).map((quirk) => ({
    name: `quirk ${quirk.name}`,
    bytes: quirkBytes(protocol, quirk),
  }));
  return [...fixtures, ...quirks];
}

/**
 * Every fourth stream of Anthropic's API, as Bedrock wraps its events. The protocol has read all of them in
 * its own framing. Those without an event are left out.
 */
function wrappedStreams(protocol: string): readonly Recorded[] {
  const some = recordedStreams(protocol).filter((_, at) => at % 4 === 0);
  return some.flatMap((stream) => {
    const events = plainEvents(stream.bytes).filter(({ isDone }) => !isDone);
    const bytes = awsChunks(events.map(({ data }) => data));
    return events.length === 0 ? [] : [{ ...stream, bytes }];
  });
}

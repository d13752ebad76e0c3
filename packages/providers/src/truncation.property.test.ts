import type { DraftPart } from "@millrace/core/writing";
import { describe, expect, test } from "vitest";
import type { StreamEnd } from "./protocol.ts";
import type { Decoded } from "./testing/decode.ts";
import { same } from "./testing/encode/compare.ts";
import { dialects } from "./testing/encode/dialects.ts";
import type { Dialect } from "./testing/encode/dialects.ts";
import { evidenceOf } from "./testing/encode/evidence.ts";
import { rounds } from "./testing/encode/rounds.ts";
import { recordedStreams } from "./testing/fixtures.ts";
import type { Recorded } from "./testing/fixtures.ts";
import { isChange, runs } from "../../../tests/kit/runs.ts";
import { failure } from "./failure.ts";

const forever = { timeout: 24 * 3_600_000 };

const ends: readonly StreamEnd[] = [
  { kind: "eof" },
  { kind: "aborted" },
  { kind: "cut", cause: failure("connection_reset", "the connection was reset") },
  { kind: "cut", cause: failure("truncated_transport", "the body is not whole") },
  { kind: "cut", cause: failure("idle_timeout", "nothing came") },
];

const wholeStops: ReadonlySet<string> = new Set(["end", "tools", "length", "filtered", "paused"]);

function contentOf(part: DraftPart): string {
  if (part.state === "open") return part.settled + part.tail;
  if (part.part.kind === "tool_call") return part.part.raw;
  return "text" in part.part ? part.part.text : "";
}

/**
 * The failure of a part of a cut reply, which must be a prefix of the same part of the whole one.
 */
function partFailure(part: DraftPart, whole: DraftPart | undefined): string | undefined {
  if (whole === undefined) return `part ${part.id} is not in the whole reply`;
  if (!contentOf(whole).startsWith(contentOf(part))) return `part ${part.id} has another text`;
  if (part.state === "open" || part.part.kind !== "tool_call") return undefined;
  const { input } = part.part;
  if (input === undefined) return undefined;
  const full =
    whole.state === "committed" && whole.part.kind === "tool_call" ? whole.part : undefined;
  return same(full?.input, input) ? undefined : `call ${part.id} has another input`;
}

interface Came {
  /** The stream may have proved that the reply is complete. */
  readonly came: boolean;
  /** It has proved it, and nothing of it is missing. */
  readonly ended: boolean;
}

function* failuresOf(cut: Decoded, whole: Decoded, { came, ended }: Came): Generator<string> {
  if (wholeStops.has(cut.end.stop) && !came) yield `is ${cut.end.stop} without evidence`;
  if (wholeStops.has(whole.end.stop) && ended && !wholeStops.has(cut.end.stop)) {
    yield `is ${cut.end.stop} though its evidence has come`;
  }
  // The beginning of an invalid event may be a valid one.
  for (const [at, part] of whole.bad > 0 ? [] : cut.draft.parts.entries()) {
    const failed = partFailure(part, whole.draft.parts[at]);
    if (failed !== undefined) yield failed;
  }
  if (cut.draft.fault !== undefined) yield `has a fault: ${cut.draft.fault.code}`;
}

/** The length in bytes above which a stream is long. Fewer runs make more streams long. */
const fewEndsAbove = runs(16_384, 16_384, 500);

/** Of the other bytes of a long stream one in so many is tried. */
const oneIn = isChange ? 61 : 13;

/**
 * All kinds of ends at line boundaries, and one of them in turn at each other byte; in a campaign
 * all of them everywhere, and with a change one of them at boundaries too. Of a long stream only some of
 * the other bytes are tried.
 */
function endsAt(bytes: Uint8Array, length: number): readonly StreamEnd[] {
  const last = bytes[length - 1];
  const isEdge = length === 0 || length === bytes.length;
  const border = isEdge || last === 0x0a || last === 0x0d;
  if (isEdge || (border && !isChange) || runs(0, 1) === 1) return ends;
  if (!border && bytes.length > fewEndsAbove && length % oneIn !== 0) return [];
  return [ends[length % ends.length] as StreamEnd];
}

interface Tally {
  cases: number;
}

function* everyEnd(dialect: Dialect, recorded: Recorded, tally: Tally): Generator<string> {
  const { name, bytes } = recorded;
  const whole = dialect.read([bytes]);
  const { may, must } = evidenceOf(dialect.name, bytes);
  for (let length = 0; length <= bytes.length; length += 1) {
    const chunks = [bytes.subarray(0, length)];
    const evidence = { came: may(length), ended: must(length) };
    for (const end of endsAt(bytes, length)) {
      tally.cases += 1;
      for (const failed of failuresOf(dialect.read(chunks, { end }), whole, evidence)) {
        yield `${name}, ${length} of ${bytes.length} bytes, ${end.kind}: ${failed}`;
      }
    }
  }
}

describe("a reply that is cut at any byte, in any of five ways", () => {
  test.each(dialects)(
    "is whole from when its evidence has come, not before, and never says another thing, in $name",
    forever,
    async (dialect) => {
      const recorded = recordedStreams(dialect.name);
      const tally: Tally = { cases: 0 };

      const failures = await rounds(recorded.length, function* (at) {
        yield* everyEnd(dialect, recorded[at] as Recorded, tally);
      });

      expect(failures).toEqual([]);
      expect(tally.cases).toBeGreaterThan(1_000);
      console.log(
        `count: cut replies of ${dialect.name} are whole only by evidence, ${tally.cases} cases, 0 failures`,
      );
    },
  );
});

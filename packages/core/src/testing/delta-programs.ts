import fc from "fast-check";
import type { Part, PartKind } from "../content/part.ts";
import type { BeginPart, Delta } from "../delta/delta.ts";
import { fillOf } from "../delta/delta.ts";
import { emptyDraft } from "../delta/empty-draft.ts";
import type { Draft } from "../delta/draft.ts";
import { commitOf } from "../delta/commit.ts";
import { fold } from "../delta/fold.ts";
import { restate } from "../delta/restate.ts";
import { callId, partId } from "../ids.ts";
import type { PartId } from "../ids.ts";
import type { Json } from "../json.ts";
import { encodeDelta } from "../wire/delta-codec.ts";

/**
 * Random delta programs are made from plain lists of numbers, each read as one choice. That is fast
 * enough for hundreds of thousands of them, and it shrinks well: a shorter list of smaller numbers
 * is a shorter, simpler program.
 */
export const choices = (maxLength: number): fc.Arbitrary<number[]> =>
  fc.array(fc.nat(0xffffff), { maxLength, size: "max" });

const kinds: readonly PartKind[] = [
  "text",
  "tool_call",
  "reasoning",
  "tool_result",
  "structured",
  "media",
  "file",
  "custom",
];
const chunks: readonly string[] = [
  "a",
  "",
  "The ",
  "é",
  "😀",
  '{"a":',
  "1}",
  "\n\n",
  "日本",
  "}{",
  "x".repeat(40),
];
const values: readonly Json[] = [
  null,
  1,
  "v",
  { a: [1, { b: "c" }] },
  [],
  { a: 1 },
  { a: 2, z: "é" },
];

/** A legal program: every delta may follow those before it. */
export function legalProgram(numbers: readonly number[]): readonly Delta[] {
  let draft = emptyDraft();
  return numbers.flatMap((number) => {
    const delta = legalDelta(draft, number);
    draft = fold(draft, delta);
    return [delta];
  });
}

/** One legal delta for this draft, chosen by a number. */
export function legalDelta(draft: Draft, number: number): Delta {
  const open = draft.parts.filter((part) => part.state === "open");
  const target = open[pick(number, 4, Math.max(1, open.length))];
  const action = number % 8;
  if (target === undefined || action === 0) {
    // Now and then a part comes whole, without having been begun.
    const begin = beginning(partId(`p${draft.parts.length}`), number);
    return number % 3 === 0 ? wholeCommit(begin, number) : begin;
  }
  if (action === 1) return commitOf(draft, target.id) as Delta;
  if (action === 2) {
    return { op: "set_metadata", partId: target.id, metadata: { seen: pick(number, 6, 5) } };
  }
  return filling(target.id, target.begin.kind, number);
}

/** Any program at all, mostly illegal. */
export function wildProgram(numbers: readonly number[]): readonly Delta[] {
  return numbers.map((number): Delta => {
    const id = partId(`p${pick(number, 3, 3)}`);
    const kind = kinds[pick(number, 5, kinds.length)] as PartKind;
    switch (number % 8) {
      case 0:
      case 1:
        return beginning(id, number);
      case 2:
        return { op: "append_text", partId: id, chunk: pick(number, 7, 9) === 0 ? "\ud83d" : "x" };
      case 3:
        return { op: "append_bytes", partId: id, chunk: Uint8Array.of(number & 255) };
      case 4:
        return {
          op: "replace_structured",
          partId: id,
          value: values[pick(number, 7, values.length)] ?? null,
        };
      case 5:
        return { op: "set_metadata", partId: id, metadata: { n: pick(number, 7, 3) } };
      case 6:
        return wholeCommit(beginning(id, number), number);
      default:
        return filling(id, kind, number);
    }
  });
}

/** The content of a draft as text, for comparing two of them: how its strings are kept does not count. */
export function content(draft: Draft): string {
  return JSON.stringify([draft.fault?.code, restate(draft).map(encodeDelta)]);
}

function beginning(id: PartId, number: number): BeginPart {
  const kind = kinds[pick(number, 5, kinds.length)] as PartKind;
  const base = { op: "begin_part", partId: id } as const;
  switch (kind) {
    case "tool_call":
    case "tool_result":
      return { ...base, kind, callId: callId(`c${pick(number, 9, 4)}`), tool: "search" };
    case "media":
      return { ...base, kind, mediaType: "image/png" };
    case "file":
      return { ...base, kind, mediaType: "text/csv", name: "a.csv" };
    case "custom":
      return { ...base, kind, name: "citation" };
    case "text":
    case "reasoning":
    case "structured":
      return { ...base, kind };
  }
}

function filling(id: PartId, kind: PartKind, number: number): Delta {
  switch (fillOf[kind]) {
    case "text":
      return { op: "append_text", partId: id, chunk: chunks[pick(number, 8, chunks.length)] ?? "" };
    case "bytes":
      return {
        op: "append_bytes",
        partId: id,
        chunk: Uint8Array.of(number & 255, (number >> 8) & 255),
      };
    case "value":
      return {
        op: "replace_structured",
        partId: id,
        value: values[pick(number, 8, values.length)] ?? null,
      };
  }
}

function wholeCommit(begin: BeginPart, number: number): Delta {
  const begun = fold(emptyDraft(), begin);
  const filled = fold(begun, filling(begin.partId, begin.kind, number));
  const commit = commitOf(filled, begin.partId) as Delta & { readonly part: Part };
  return commit;
}

/** An independent small choice out of the bits above `shift`. */
function pick(number: number, shift: number, size: number): number {
  return (number >> shift) % size;
}

import { checkTranscript } from "@millrace/core/writing";
import type { Item, Part, ToolResultPart } from "@millrace/core";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { runs } from "../../../../tests/kit/runs.ts";
import { answeredCalls, histories } from "../testing/transcripts.ts";
import type { History } from "../testing/transcripts.ts";
import { assemble } from "./assemble.ts";
import { readOutput } from "./read-output.ts";

vi.setConfig({ testTimeout: process.env["CAMPAIGN"] === "1" ? 24 * 3_600_000 : 120_000 });

const times = runs(60_000, 6_000_000);
const limit = 600;
const outputBytes = (): number => limit;

describe("assemble", () => {
  it("what a model is given is legal, and assembling it again changes nothing", () => {
    const seen = { trimmed: 0, covered: 0, same: 0 };
    fc.assert(
      fc.property(histories, (history) => {
        const { items, compactions } = history;
        const { transcript, trimmed } = assemble(items, { compactions, outputBytes });
        if (checkTranscript(transcript).length > 0) throw new Error("faults are left");
        const again = assemble(transcript, { compactions: [], outputBytes });
        if (again.transcript !== transcript || again.trimmed) throw new Error("changed again");
        const second = assemble(items, { compactions, outputBytes }).transcript;
        if (JSON.stringify(second) !== JSON.stringify(transcript)) throw new Error("another one");
        const nothingToDo =
          viewOf(history).every(({ at }, index) => at === index) &&
          viewOf(history).length === items.length &&
          checkTranscript(items).length === 0 &&
          !items.some(({ parts }) => parts.some(isLong));
        if (nothingToDo && transcript !== items) throw new Error("another array");
        if (nothingToDo) seen.same += 1;
        if (trimmed) seen.trimmed += 1;
        if (viewOf(history).some(({ summary }) => summary)) seen.covered += 1;
      }),
      { numRuns: times },
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(times / 100);
    console.log(
      `count: assembled transcripts are legal, ${times} sessions (${seen.covered} with summaries, ${seen.trimmed} trimmed), 0 failures`,
    );
  });

  it("all that is not covered is there in its order, and each summary stands for its range once", () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { items, compactions } = history;
        const { transcript } = assemble(items, { compactions, outputBytes });
        const expected = viewOf(history).flatMap(({ item, summary }) =>
          summary || item.author !== "tool" ? item.parts.filter(isWords).map(textOf) : [],
        );
        const found = transcript.flatMap((item) =>
          item.author === "tool" ? [] : item.parts.filter(isWords).map(textOf),
        );
        if (expected.length !== found.length)
          throw new Error(`${expected.join()}: ${found.join()}`);
        for (const [at, words] of expected.entries()) {
          // A summary is introduced by a line of our own.
          if (found[at]?.endsWith(words) !== true) throw new Error(`${words}: ${found[at]}`);
        }
      }),
      { numRuns: times },
    );
    console.log(`count: uncovered words stay in order, ${times} sessions, 0 failures`);
  });

  it("each call that is not covered keeps its answer, and what is left out of it can be read", () => {
    let trimmed = 0;
    fc.assert(
      fc.property(histories, (history) => {
        const { items, compactions } = history;
        const { transcript } = assemble(items, { compactions, outputBytes });
        const expected = answeredCalls(viewOf(history).map(({ item }) => item));
        const found = answeredCalls(transcript);
        if (found.length !== expected.length) throw new Error("a call is lost or made up");
        for (const [at, { call, result }] of expected.entries()) {
          if (found[at]?.call !== call) throw new Error("another call");
          const shown = found[at].result;
          if (result === undefined ? shown?.synthetic !== true : shown === undefined)
            throw new Error("another answer");
          if (result === undefined || shown === undefined || shown === result) continue;
          trimmed += 1;
          if (Buffer.byteLength(shown.text) > limit) throw new Error("over the limit");
          if (shown.output !== undefined) throw new Error("all of it goes as output");
          if (whole(items, shown.text) !== saying(result)) throw new Error(shown.text);
        }
      }),
      { numRuns: times },
    );
    expect(trimmed).toBeGreaterThan(times / 20);
    console.log(`count: trimmed outputs are read back, ${trimmed} outputs, 0 failures`);
  });
});

interface Place {
  readonly item: Item;
  readonly at: number;
  readonly summary: boolean;
}

/** The same by the definition, one range after the other, without regard to cost. */
function viewOf({ items, compactions }: History): readonly Place[] {
  const owners = items.map((): number => -1);
  const ranges = new Map<string, readonly [number, number]>();
  const moved = new Set<number>();
  for (const { itemId, first, last } of compactions) {
    const placeOf = (id: string): number => items.findIndex((item) => item.id === id);
    const summary = placeOf(itemId);
    const from = ranges.get(first)?.[0] ?? placeOf(first);
    const to = ranges.get(last)?.[1] ?? placeOf(last);
    const isSilent = !items[summary]?.parts.some(isWords);
    if (summary < 0 || from < 0 || to < from || isSilent) continue;
    ranges.set(itemId, [from, to]);
    moved.add(summary);
    owners.fill(summary, from, to + 1);
  }
  return items.flatMap((item, at): readonly Place[] => {
    const owner = owners[at] ?? -1;
    if (owner < 0) return moved.has(at) ? [] : [{ item, at, summary: false }];
    const summary = items[owner];
    if (summary === undefined || owners.indexOf(owner) !== at) return [];
    return [{ item: summary, at: owner, summary: true }];
  });
}

/** Follows the note of a trimmed text, and each next offset, until what is left out is read. */
function whole(items: readonly Item[], shown: string): string {
  const note =
    /\n\[(\d+) of (\d+) bytes are left out here\. read_output with (.*) reads them\.\]\n/;
  const match = note.exec(shown);
  if (match === null) throw new Error("no note");
  // The note is our own, made by JSON.stringify.
  const { callId, offset } = JSON.parse(match[3] ?? "") as { callId: string; offset: number };
  const end = offset + Number(match[1]);
  let missing = "";
  for (let next = offset; next < end;) {
    const read = readOutput(items, { callId, offset: next, length: Math.min(500, end - next) });
    const [, line = "", piece = ""] = /^\[([^\]]*)\]\n(.*)$/s.exec(read) ?? [];
    if (!line.startsWith(`bytes ${next} to `) || piece === "") throw new Error(read);
    missing += piece;
    next += Buffer.byteLength(piece);
  }
  const tail = shown.slice(match.index + match[0].length);
  return shown.slice(0, match.index) + missing + tail;
}

function isWords(part: Part): boolean {
  return part.kind !== "tool_call" && part.kind !== "tool_result";
}

function textOf(part: Part): string {
  return part.kind === "text" ? part.text : "";
}

function saying({ text, output }: ToolResultPart): string {
  return text === "" && typeof output === "string" ? output : text;
}

function isLong(part: Part): boolean {
  return part.kind === "tool_result" && Buffer.byteLength(saying(part)) > limit;
}

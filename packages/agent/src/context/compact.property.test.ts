import type { Item } from "@millrace/core";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { runs } from "../../../../tests/kit/runs.ts";
import { answeredCalls, item, storedHistories, text } from "../testing/transcripts.ts";
import { assemble } from "./assemble.ts";
import { planCompaction, summaryRequest } from "./compact.ts";
import { entriesOf } from "./entries.ts";
import type { Entry } from "./entries.ts";

vi.setConfig({ testTimeout: process.env["CAMPAIGN"] === "1" ? 24 * 3_600_000 : 120_000 });

const times = runs(60_000, 6_000_000);

describe("planCompaction", () => {
  it("a range parts no call from its answer, and leaves the prompt and the latest items alone", () => {
    let planned = 0;
    fc.assert(
      fc.property(storedHistories, fc.nat(4), ({ items, compactions }, keep) => {
        const shown = entriesOf(items, compactions);
        const plan = planCompaction(items, compactions, keep);
        const open = allowed(shown, keep);
        if (plan === undefined) {
          if (open.length > 0) throw new Error("there was something to cover");
          return;
        }
        planned += 1;
        const ids = plan.items.map(({ id }) => id);
        const from = shown.findIndex(({ item }) => item.id === ids[0]);
        const to = from + ids.length;
        if (shown.slice(from, to).some(({ item }, at) => item.id !== ids[at]))
          throw new Error("not in one piece");
        // It begins as early and ends as late as it may.
        const isAllowed = open.some(([start, end]) => start === from && end === to);
        const isLonger = open.some(
          ([start, end]) => start <= from && end >= to && end - start > to - from,
        );
        if (!isAllowed || isLonger) throw new Error(`${from} to ${to} of ${JSON.stringify(open)}`);
      }),
      { numRuns: times },
    );
    expect(planned).toBeGreaterThan(times / 5);
    console.log(`count: planned ranges, ${times} sessions (${planned} planned), 0 failures`);
  });

  it("a plan carried out leaves all else as it was, with the summary in its place", () => {
    let carriedOut = 0;
    fc.assert(
      fc.property(storedHistories, fc.nat(4), ({ items, compactions }, keep) => {
        let session = items;
        let known = compactions;
        // Again and again, so that summaries are summarised.
        for (let round = 0; round < 3; round += 1) {
          const plan = planCompaction(session, known, keep);
          if (plan === undefined) return;
          carriedOut += 1;
          const before = ids(entriesOf(session, known).map((entry) => entry.item));
          const summary = item(`new${round}`, "agent", [text("what it came to")]);
          session = [...session, summary];
          known = [...known, { itemId: summary.id, first: plan.first, last: plan.last }];
          const after = ids(entriesOf(session, known).map((entry) => entry.item));
          const at = before.indexOf(plan.items[0]?.id ?? "");
          const expected = before.toSpliced(at, plan.items.length, summary.id);
          if (after.join() !== expected.join())
            throw new Error(`${after.join()} ${expected.join()}`);
        }
      }),
      { numRuns: times },
    );
    expect(carriedOut).toBeGreaterThan(times / 5);
    console.log(`count: plans carried out, ${carriedOut} plans, 0 failures`);
  });

  it("a request for a summary holds to its limit, and no content passes for an item", () => {
    const limits = fc.integer({ min: 1_200, max: 4_000 });
    fc.assert(
      fc.property(storedHistories, limits, ({ items, compactions }, limitTokens) => {
        const plan = planCompaction(items, compactions, 0, { limitTokens });
        if (plan === undefined) return;
        const { transcript, instructions = "" } = summaryRequest(plan);
        const said = transcript.flatMap(({ parts }) =>
          parts.map((part) => (part.kind === "text" ? part.text : "")),
        );
        const bytes = Buffer.byteLength(said.join("") + instructions);
        if (bytes > 4 * limitTokens) throw new Error(`${bytes} bytes, not ${4 * limitTokens}`);
        // A cut may leave a blank line behind.
        const heads = said[0]?.split("\n").filter((line) => /^ ?\S/.test(line)) ?? [];
        if (heads.length !== plan.record.length) throw new Error(heads.join("\n"));
        if (assemble(transcript, { compactions: [] }).transcript !== transcript)
          throw new Error("not legal");
      }),
      { numRuns: times },
    );
    console.log(`count: requests for a summary, ${times} sessions, 0 failures`);
  });
});

function ids(items: readonly Item[]): readonly string[] {
  return items.map(({ id }) => id);
}

/** All ranges of two or more that part nothing and hold neither the prompt nor the latest. By trying. */
function allowed(shown: readonly Entry[], keep: number): readonly (readonly [number, number])[] {
  const pairs = answeredCalls(shown.map(({ item }) => item));
  const prompt = shown.findLastIndex(({ item, summary }) => item.author === "user" && !summary);
  const ranges: (readonly [number, number])[] = [];
  for (let from = 0; from < shown.length; from += 1) {
    for (let to = from + 2; to <= shown.length - keep; to += 1) {
      const inside = (at: number): boolean => at >= from && at < to;
      const parts = pairs.some(
        ({ at, answeredAt = at }) => side(at, from, to) !== side(answeredAt, from, to),
      );
      const covers = shown.slice(from, to);
      const touches = shown.some(
        (one, at) =>
          !inside(at) && covers.some((other) => one.from <= other.to && other.from <= one.to),
      );
      if (!parts && !touches && !inside(prompt)) ranges.push([from, to]);
    }
  }
  return ranges;
}

function side(at: number, from: number, to: number): number {
  return at < from ? 0 : at < to ? 1 : 2;
}

import fc from "fast-check";
import { expect, test } from "vitest";
import { choices, legalProgram, wildProgram } from "../testing/delta-programs.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import type { Delta } from "./delta.ts";
import { emptyDraft } from "./empty-draft.ts";
import { fold } from "./fold.ts";
import { Folding } from "./folding.ts";

const limits = { ...emptyDraft().limits, text: 3_000, arguments: 20 };

/** The program with some texts made long, so that tails settle and limits are reached. */
function lengthen(deltas: readonly Delta[], numbers: readonly number[]): readonly Delta[] {
  return deltas.map((delta, at) => {
    if (delta.op !== "append_text" || (numbers[at] ?? 0) % 5 !== 0) return delta;
    return { ...delta, chunk: delta.chunk + "x".repeat(((numbers[at] ?? 0) * 37) % 1_500) };
  });
}

/** A legal program with half a character in one of its texts. */
function spoiltProgram(numbers: readonly number[]): readonly Delta[] {
  const spoilt = (numbers[0] ?? 0) % 20;
  return legalProgram(numbers).map((delta, at) =>
    at >= spoilt && delta.op === "append_text" ? { ...delta, chunk: "\ud800" } : delta,
  );
}

test.each([
  ["legal", legalProgram],
  ["illegal", wildProgram],
  ["spoilt", spoiltProgram],
] as const)("a folding equals the fold after each delta of %s programs", (name, program) => {
  const times = runs(2_000, 200_000);
  fc.assert(
    fc.property(choices(40), (numbers) => {
      const deltas = lengthen(program(numbers), numbers);
      const folding = new Folding(emptyDraft(limits));
      let draft = emptyDraft(limits);
      for (const [at, delta] of deltas.entries()) {
        draft = fold(draft, delta);
        expect(folding.add(delta)).toBe(draft.fault === undefined);
        // Read at some places only: what is gathered between them has to count.
        if ((numbers[at] ?? 0) % 3 === 0) expect(folding.draft()).toEqual(draft);
      }
      expect(folding.draft()).toEqual(draft);
    }),
    { numRuns: times },
  );
  console.log(`count: P2 a folding equals the fold, ${name}, ${times} programs, 0 failures`);
});

test("a draft that was read stays as it was", () => {
  const partId = "p1" as Delta["partId"];
  const folding = new Folding(emptyDraft());
  folding.add({ op: "begin_part", partId, kind: "text" });
  folding.add({ op: "append_text", partId, chunk: "a" });
  const before = folding.draft();
  const copy = { ...before, parts: structuredClone(before.parts) };

  folding.add({ op: "append_text", partId, chunk: "b" });

  expect(folding.draft()).not.toEqual(before);
  expect(before).toEqual(copy);
});

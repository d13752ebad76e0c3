import fc from "fast-check";
import { expect, test } from "vitest";
import { choices, content, legalProgram, wildProgram } from "../testing/delta-programs.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { coalesce } from "./coalesce.ts";
import { commitDraft } from "./commit.ts";
import type { Delta } from "./delta.ts";
import { emptyDraft } from "./empty-draft.ts";
import type { Draft } from "./draft.ts";
import { fold, foldAll } from "./fold.ts";
import { restate } from "./restate.ts";
import { verify } from "./verify.ts";
import { itemId } from "../ids.ts";

const times = runs(25_000, 2_500_000);

function law(name: string, length: number, holds: (numbers: readonly number[]) => void): void {
  test(name, { timeout: 3_600_000 }, () => {
    fc.assert(fc.property(choices(length), holds), { numRuns: times });
    console.log(`count: P2 ${name}, ${times} programs, 0 failures`);
  });
}

function foldEach(draft: Draft, deltas: readonly Delta[]): Draft {
  return deltas.reduce(fold, draft);
}

/** Cuts the text and bytes of appends anew, at places chosen by the numbers. */
function recut(deltas: readonly Delta[], numbers: readonly number[]): readonly Delta[] {
  return deltas.flatMap((delta, at): readonly Delta[] => {
    const cut = (numbers[at] ?? 0) >> 3;
    if (delta.op === "append_text") {
      const characters = Array.from(delta.chunk);
      const place = cut % (characters.length + 1);
      return [characters.slice(0, place), characters.slice(place)].map((piece) => ({
        ...delta,
        chunk: piece.join(""),
      }));
    }
    if (delta.op !== "append_bytes") return [delta];
    const place = cut % (delta.chunk.length + 1);
    return [delta.chunk.subarray(0, place), delta.chunk.subarray(place)].map((chunk) => ({
      ...delta,
      chunk,
    }));
  });
}

law("any split or merge of appends folds to the same draft", 40, (numbers) => {
  const deltas = legalProgram(numbers);
  const whole = content(foldEach(emptyDraft(), deltas));

  expect(content(foldEach(emptyDraft(), recut(deltas, numbers)))).toBe(whole);
  expect(content(foldAll(emptyDraft(), recut(deltas, numbers)))).toBe(whole);
});

law("coalescing changes nothing that is folded", 40, (numbers) => {
  const deltas = recut(legalProgram(numbers), numbers);
  const size = (numbers[0] ?? 7) % 9;

  const whole = content(foldEach(emptyDraft(), deltas));
  const merged = coalesce(deltas);

  expect(content(foldEach(emptyDraft(), merged))).toBe(whole);
  expect(content(foldEach(emptyDraft(), coalesce(deltas, { text: size, bytes: size })))).toBe(
    whole,
  );
  expect(merged.length).toBeLessThanOrEqual(deltas.length);
  expect(coalesce(merged)).toEqual(merged);
});

law("coalescing keeps a fault what it is", 14, (numbers) => {
  const deltas = wildProgram(numbers);

  const plain = foldEach(emptyDraft(), deltas);
  const merged = foldEach(emptyDraft(), coalesce(deltas));

  expect(content(merged)).toBe(content(plain));
});

law("folding a prefix and then the rest folds the whole", 40, (numbers) => {
  const deltas = legalProgram(numbers);
  const place = deltas.length === 0 ? 0 : (numbers[0] ?? 0) % deltas.length;

  const prefix = foldAll(emptyDraft(), deltas.slice(0, place));
  const before = content(prefix);
  const rest = foldAll(prefix, deltas.slice(place));

  expect(content(rest)).toBe(content(foldEach(emptyDraft(), deltas)));
  expect(content(prefix)).toBe(before); // the draft given stays what it was
});

law("a draft is restated in a few deltas a part, and those fold to it", 40, (numbers) => {
  const draft = foldAll(emptyDraft(), legalProgram(numbers));
  const deltas = restate(draft);

  expect(content(foldEach(emptyDraft(), deltas))).toBe(content(draft));
  expect(deltas.length).toBeLessThanOrEqual(draft.parts.length * 4);
});

law("an illegal sequence gives a typed fault, and what came before it stays", 14, (numbers) => {
  const deltas = wildProgram(numbers);

  const ended = foldEach(emptyDraft(), deltas);
  const index = firstFault(deltas);
  const prefix = foldEach(emptyDraft(), deltas.slice(0, index));

  expect(ended.fault === undefined).toBe(index === deltas.length);
  expect({ ...ended, fault: undefined }).toEqual(prefix);
  expect(content(foldAll(emptyDraft(), deltas))).toBe(content(ended));
});

law("an item is whole only if all its parts were committed", 20, (numbers) => {
  const draft = foldAll(emptyDraft(), legalProgram(numbers));
  const open = draft.parts.some((part) => part.state === "open");

  const item = commitDraft(draft, { id: itemId("i"), author: "model" }, { stop: "end" });

  expect(item.stop).toBe(open ? "failed" : "end");
  expect(item.parts).toHaveLength(draft.parts.length);
  // A call that was cut has no input to run on.
  for (const [at, part] of item.parts.entries()) {
    if (part.kind === "tool_call" && draft.parts[at]?.state === "open")
      expect(part.input).toBeUndefined();
  }
});

law("what is committed is what was streamed", 40, (numbers) => {
  const deltas = legalProgram(numbers);
  const streamed = new Map<string, string>();
  for (const delta of deltas) {
    if (delta.op === "append_text")
      streamed.set(delta.partId, (streamed.get(delta.partId) ?? "") + delta.chunk);
  }

  for (const { id, ...part } of foldAll(emptyDraft(), deltas).parts) {
    const text = streamed.get(id);
    if (part.state !== "committed" || text === undefined) continue;
    expect(
      "raw" in part.part ? part.part.raw : "text" in part.part ? part.part.text : undefined,
    ).toBe(text);
  }
});

function firstFault(deltas: readonly Delta[]): number {
  let draft = emptyDraft();
  for (const [index, delta] of deltas.entries()) {
    if (verify(draft, delta) !== undefined) return index;
    draft = fold(draft, delta);
  }
  return deltas.length;
}

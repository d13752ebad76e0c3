import { itemId } from "@millrace/core/writing";
import type { Item } from "@millrace/core";
import type { Compaction } from "@millrace/core/reading";
import { expect, it, vi } from "vitest";
import { growth, notQuadratic } from "../../../../tests/kit/growth.ts";
import { call, item, result, text } from "../testing/transcripts.ts";
import { assemble } from "./assemble.ts";
import { planCompaction } from "./compact.ts";

vi.setConfig({ testTimeout: 60_000 });

interface Case {
  readonly items: readonly Item[];
  readonly compactions: readonly Compaction[];
}

const cases: readonly (readonly [string, (size: number) => Case])[] = [
  ["turns", (size) => ({ items: turns(size), compactions: [] })],
  ["long results of one call id", (size) => ({ items: sameId(size), compactions: [] })],
  ["summaries of summaries", nested],
];

// Sizes are of the smaller run; the larger has 20,000 items and more.
it.each(cases)("assembling is linear in the number of %s", async (_, make) => {
  const ratio = await growth(2_500, (size) => {
    const { items, compactions } = make(size);
    return () => assemble(items, { compactions, outputBytes: () => 200 });
  });

  expect(ratio).toBeLessThan(notQuadratic);
});

it.each(cases)("planning is linear in the number of %s", async (_, make) => {
  const ratio = await growth(2_500, (size) => {
    const { items, compactions } = make(size);
    return () => planCompaction(items, compactions, 8, { limitTokens: 10_000 });
  });

  expect(ratio).toBeLessThan(notQuadratic);
});

function turns(size: number): readonly Item[] {
  return Array.from({ length: size }, (_, at) => [
    item(`m${at}`, "model", [text("words"), call(`${at}`)], "tools"),
    item(`r${at}`, "tool", [result(`${at}`, "done")]),
  ]).flat();
}

function sameId(size: number): readonly Item[] {
  return Array.from({ length: size }, (_, at) => [
    item(`m${at}`, "model", [call("1")], "tools"),
    item(`r${at}`, "tool", [result("1", "x".repeat(300))]),
  ]).flat();
}

/** Each covers everything from the beginning. */
function nested(size: number): Case {
  const items: Item[] = [item("first", "model", [text("words")])];
  const compactions: Compaction[] = [];
  for (let at = 0; at < size; at += 1) {
    items.push(item(`i${at}`, "model", [text("words")]));
    items.push(item(`s${at}`, "agent", [text("in short")]));
    compactions.push({ itemId: itemId(`s${at}`), first: itemId("first"), last: itemId(`i${at}`) });
  }
  return { items, compactions };
}

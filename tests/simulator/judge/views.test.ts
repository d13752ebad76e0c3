/** The oracles of views and promises are seen to fail. */
import type { ClientView } from "@millrace/client";
import { itemId, partId } from "@millrace/core/writing";
import { expect, test } from "vitest";
import { viewJudge } from "./views.ts";

type Shown = Pick<ClientView, "head" | "items">;

function shown(head: number, ...texts: readonly string[]): Shown {
  const items = texts.map((text, at) => ({
    id: itemId(`i${at}`),
    author: "model" as const,
    parts: [{ kind: "text" as const, id: partId("p"), text }],
    stop: "end" as const,
  }));
  return { head, items: items as unknown as ClientView["items"] }; // the fields that the oracle reads
}

function reportsOf(...views: readonly Shown[]): readonly string[] {
  const found: string[] = [];
  const written = new Map([["00000001", "answer #00000001 Wheel"]]);
  const judge = viewJudge("page0", written, { add: (rule) => void found.push(rule) });
  for (const view of views) judge(view);
  return found;
}

test("a text that grows as the model wrote it is not reported", () => {
  const texts = ["answer", "answer #00000001 ", "answer #00000001 Wheel"];
  expect(reportsOf(...texts.map((text, at) => shown(at, text)))).toEqual([]);
});

test.each<[string, readonly Shown[], string]>([
  ["a view that goes back", [shown(3), shown(2)], "view-forward"],
  ["a text that the model did not write", [shown(1, "answer #00000001 Whale")], "prefix"],
  ["a text of two replies", [shown(1, "one #00000002 two #00000003 ")], "no-splice"],
])("%s is reported", (_, views, rule) => {
  expect(reportsOf(...views)).toEqual([rule]);
});

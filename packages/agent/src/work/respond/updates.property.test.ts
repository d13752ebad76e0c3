import { partId } from "@millrace/core/writing";
import type { Item } from "@millrace/core";
import type { Update } from "@millrace/core/writing";
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { runs } from "../../../../../tests/kit/runs.ts";
import { answerOf, numbered, yields } from "../../testing/respond.ts";
import { writtenOut } from "../../testing/update-programs.ts";

vi.setConfig({ testTimeout: process.env["CAMPAIGN"] === "1" ? 24 * 3_600_000 : 120_000 });

const times = runs(300, 15_000, 100);

function contentOf(items: readonly Item[]): readonly unknown[] {
  return numbered(items).map(({ parts, stop, cause, metadata }) => ({
    parts,
    stop,
    cause,
    metadata,
  }));
}

it("items are the same with beginnings and endings as without them", async () => {
  let leftOut = 0;

  await fc.assert(
    fc.asyncProperty(writtenOut, fc.infiniteStream(fc.boolean()), async (program, coin) => {
      const short = program.filter(({ optional }) => !optional || coin.next().value === true);
      leftOut += program.length - short.length;
      const whole = await answerOf(yields(...program.map(({ update }) => update)));

      const answer = await answerOf(yields(...short.map(({ update }) => update)));

      expect(contentOf(answer.items)).toEqual(contentOf(whole.items));
      expect(answer.outcome).toBe(whole.outcome);
      expect(answer.outcome).not.toBe("failed");
    }),
    { numRuns: times },
  );

  expect(leftOut).toBeGreaterThan(times);
  console.log(
    `count: items without beginnings and endings are those with them, ${times} programs, ${leftOut} updates left out, 0 failures`,
  );
});

const content = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.constant([{ kind: "structured", id: partId("p0"), value: 1 }] as const),
  fc.constant([
    { kind: "reasoning", id: partId("p1"), text: "so" },
    { kind: "text", id: partId("p8"), text: "it is" },
  ] as const),
);

it("what comes for an item after its replacement changes nothing", async () => {
  let ignored = 0;

  await fc.assert(
    fc.asyncProperty(
      writtenOut,
      writtenOut,
      content,
      content,
      async (before, after, full, late) => {
        const draft = deltasOf(before);
        const replaced: readonly Update[] = [...draft, { op: "replace_item", content: full }];
        const expected = await answerOf(yields(...replaced));
        const ids = new Set(draft.map(({ partId: id }) => id));
        if (typeof full !== "string") for (const { id } of full) ids.add(id);
        else if (!draft.some((delta) => delta.op === "begin_part" && delta.kind === "text"))
          ids.add(partId("p1"));
        const rest = deltasOf(after).filter(({ partId: id }) => ids.has(id));
        const second: Update = {
          op: "replace_item",
          content: typeof late === "string" ? late : full,
        };
        ignored += rest.length + 2;

        const answer = await answerOf(
          yields(...replaced, ...rest, second, ...rest, { op: "commit_item", stop: "length" }),
        );

        expect(contentOf(answer.items)).toEqual(contentOf(expected.items));
        expect(answer.facts).toEqual(["item_replaced"]);
        expect(answer.outcome).toBe("completed");
      },
    ),
    { numRuns: times },
  );

  console.log(
    `count: a replaced item is final, ${times} programs, ${ignored} updates ignored, 0 failures`,
  );
});

/** The deltas of a program's first item. */
function deltasOf(program: readonly { readonly update: Update }[]) {
  const updates = program.map(({ update }) => update);
  const end = updates.findIndex(({ op }) => op === "commit_item");
  return updates.slice(0, end).flatMap((update) => ("partId" in update ? [update] : []));
}

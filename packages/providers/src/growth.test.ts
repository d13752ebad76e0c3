import { describe, expect, test } from "vitest";
import { isChange } from "../../../tests/kit/runs.ts";
import { dialects } from "./testing/encode/dialects.ts";
import { longStream } from "./testing/encode/long.ts";
import type { LongKind } from "./testing/encode/long.ts";

const cases = dialects.flatMap((dialect) =>
  (["text", "arguments"] as const).map((kind: LongKind) => ({ ...dialect, kind })),
);

const sizes = isChange ? [2_000, 4_000] : [10_000, 40_000, 160_000];

describe("one-character deltas", { timeout: 120_000 }, () => {
  test.each(cases)("$kind of $name becomes one delta for each", ({ name, kind, read }) => {
    for (const size of sizes) {
      const { deltas, draft, end } = read(longStream(name, kind, size));

      const part = draft.parts[0]?.state === "committed" ? draft.parts[0].part : undefined;
      expect(end.stop).toBe(kind === "text" ? "end" : "tools");
      expect(draft.parts).toHaveLength(1);
      if (kind === "text") expect(part?.kind === "text" && part.text.length).toBe(size);
      else {
        expect(part?.kind === "tool_call" && part.input).toBeTypeOf("object");
        expect(part?.kind === "tool_call" && part.raw.length).toBeGreaterThanOrEqual(size);
      }
      // The beginning, the end, and at most a few that a dialect adds.
      expect(Math.abs(deltas.length - size)).toBeLessThanOrEqual(8);
    }
  });
});

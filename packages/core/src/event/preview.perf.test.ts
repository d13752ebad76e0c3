import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import { patience } from "../../../../tests/kit/patience.ts";
import { retryWhenNoisy } from "../../../../tests/kit/retry-when-noisy.ts";

vi.setConfig({ testTimeout: patience });

interface Row {
  readonly size: number;
  readonly bare: number;
  readonly preview: number;
}

interface Figures {
  /** Of the call of 60 KB: with its preview, as a multiple of the same without. */
  readonly cost: number;
  /** From 30 to 120 KB: 1 is linear, 2 is quadratic. */
  readonly exponent: number;
}

/** The collector has no threads of its own: on a busy machine theirs would be counted too. */
const flags = ["--single-threaded-gc", "--conditions=@millrace/source"];

function figures(shape: string): Figures {
  const script = fileURLToPath(new URL("../testing/preview-speed.ts", import.meta.url));
  const run = execFileSync(process.execPath, [...flags, script, shape], { encoding: "utf8" });
  const [small, middle, large] = (JSON.parse(run) as { sizes: [Row, Row, Row] }).sizes;
  const growth = (way: "bare" | "preview"): number =>
    Math.log(large[way] / small[way]) / Math.log(large.size / small.size);
  // What grows without a preview is not the preview's.
  const excess = Math.max(0, growth("bare") - 1);
  return { cost: middle.preview / middle.bare, exponent: growth("preview") - excess };
}

it.each([
  ["a file of 60 KB", "file", { cost: 2, exponent: 1.1 }],
  // Of a list that is still open the references are copied for each view: 136 of them at the end of 60 KB.
  ["a list of edits of 60 KB", "edits", { cost: 2, exponent: 1.3 }],
] as const)(
  "the preview of every view of %s costs less than making the views",
  async (_, shape, limits) => {
    const { cost, exponent } = await retryWhenNoisy(
      async () => figures(shape),
      (each) => each.cost <= limits.cost && each.exponent <= limits.exponent,
    );
    console.log(
      `count: preview of ${shape}, 60000 characters in deltas of 8, ${cost.toFixed(2)} x bare, exponent ${exponent.toFixed(2)}`,
    );

    expect(cost).toBeLessThanOrEqual(limits.cost);
    expect(exponent).toBeLessThanOrEqual(limits.exponent);
  },
);

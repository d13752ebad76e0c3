import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

function runScript(name: string, ...flags: readonly string[]): unknown {
  const script = fileURLToPath(new URL(`../testing/${name}`, import.meta.url));
  const output = execFileSync(process.execPath, [...flags, "--conditions=source", script], {
    encoding: "utf8",
  });
  return JSON.parse(output);
}

interface Row {
  readonly kind: string;
  readonly sizes: readonly {
    readonly size: number;
    readonly bare: number;
    readonly one: number;
    readonly batch: number;
    readonly bestOne: number;
    readonly bestBatch: number;
  }[];
}

/** The slope of time over size on logarithmic axes: 1 is linear, 2 is quadratic. */
function exponent(sizes: readonly number[], times: readonly number[]): number {
  const x = sizes.map(Math.log);
  const y = times.map(Math.log);
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const top = x.reduce((sum, value, at) => sum + (value - mean(x)) * ((y[at] ?? 0) - mean(y)), 0);
  return top / x.reduce((sum, value) => sum + (value - mean(x)) ** 2, 0);
}

describe("folding one-character deltas, up to 160,000 of them", { timeout: 120_000 }, () => {
  const rows = runScript("fold-speed.ts") as readonly Row[];

  test.each(rows)(
    "$kind is linear, and costs little more than adding strings",
    ({ kind, sizes }) => {
      const last = sizes.at(-1) ?? { bare: 0, one: 1, batch: 1 };
      const counts = sizes.map(({ size }) => size);
      const growth = exponent(
        counts,
        sizes.map(({ bestOne }) => bestOne),
      );
      const batchGrowth = exponent(
        counts,
        sizes.map(({ bestBatch }) => bestBatch),
      );
      console.log(
        `count: fold ${kind}, 160000 deltas, one by one ${(last.one / last.bare).toFixed(2)} x bare, ` +
          `in batches of 64 ${(last.batch / last.bare).toFixed(2)} x bare, exponents ${growth.toFixed(2)} and ${batchGrowth.toFixed(2)}`,
      );

      expect(growth).toBeLessThanOrEqual(1.1);
      expect(batchGrowth).toBeLessThanOrEqual(1.1);
      expect(last.one / last.bare).toBeLessThanOrEqual(8);
      expect(last.batch / last.bare).toBeLessThanOrEqual(3);
    },
  );
});

test(
  "folding 100 MB of text keeps the peak heap below 2.5 times the text",
  { timeout: 120_000 },
  () => {
    // With this much heap and little more: the process dies if the fold needs more than it says.
    const { text, peak } = runScript("fold-memory.ts", "--max-old-space-size=250") as {
      text: number;
      peak: number;
    };
    console.log(
      `count: fold memory, ${text} characters, peak heap ${(peak / text).toFixed(2)} x the text`,
    );

    expect(text).toBe(100_000_000);
    expect(peak / text).toBeLessThan(2.5);
  },
);

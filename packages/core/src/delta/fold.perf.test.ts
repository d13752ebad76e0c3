import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { retryWhenNoisy } from "../../../../tests/kit/retry-when-noisy.ts";

function runScript(name: string, words: readonly string[], flags: readonly string[] = []): unknown {
  const script = fileURLToPath(new URL(`../testing/${name}`, import.meta.url));
  const run = [...flags, "--conditions=@millrace/source", script, ...words];
  return JSON.parse(execFileSync(process.execPath, run, { encoding: "utf8" }));
}

interface Row {
  readonly kind: string;
  readonly sizes: readonly {
    readonly size: number;
    readonly bare: number;
    readonly one: number;
    readonly batch: number;
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

interface Figures {
  readonly one: number;
  readonly batch: number;
  readonly growth: number;
  readonly batchGrowth: number;
}

function figures({ sizes }: Row): Figures {
  const last = sizes.at(-1) ?? { bare: 0, one: 1, batch: 1 };
  const counts = sizes.map(({ size }) => size);
  const growth = (way: "bare" | "one" | "batch"): number =>
    exponent(
      counts,
      sizes.map((row) => row[way]),
    );
  // Where caches are small or shared, adding long strings itself grows by more than their length.
  const excess = Math.max(0, growth("bare") - 1);
  return {
    one: last.one / last.bare,
    batch: last.batch / last.bare,
    growth: growth("one") - excess,
    batchGrowth: growth("batch") - excess,
  };
}

const limits: Figures = { one: 8, batch: 3, growth: 1.1, batchGrowth: 1.1 };

function within(row: Row): boolean {
  const { one, batch, growth, batchGrowth } = figures(row);
  const costs = one <= limits.one && batch <= limits.batch;
  return costs && growth <= limits.growth && batchGrowth <= limits.batchGrowth;
}

// Each kind by itself, so that one noisy moment does not take the other kind's quiet one with it.
const rows: Row[] = [];
for (const kind of ["text", "tool_call"]) {
  rows.push(await retryWhenNoisy(async () => runScript("fold-speed.ts", [kind]) as Row, within));
}

describe("folding one-character deltas, up to 160,000 of them", { timeout: 120_000 }, () => {
  test.each(rows)("$kind is linear, and costs little more than adding strings", (row) => {
    const { kind } = row;
    const { one, batch, growth, batchGrowth } = figures(row);
    console.log(
      `count: fold ${kind}, 160000 deltas, one by one ${one.toFixed(2)} x bare, in batches of 64 ` +
        `${batch.toFixed(2)} x bare, exponents ${growth.toFixed(2)} and ${batchGrowth.toFixed(2)}`,
    );

    expect(growth).toBeLessThanOrEqual(limits.growth);
    expect(batchGrowth).toBeLessThanOrEqual(limits.batchGrowth);
    expect(one).toBeLessThanOrEqual(limits.one);
    expect(batch).toBeLessThanOrEqual(limits.batch);
  });
});

test(
  "folding 100 MB of text keeps the peak heap below 2.5 times the text",
  { timeout: 120_000 },
  () => {
    // With this much heap and little more: the process dies if the fold needs more than it reports.
    // The collector has no threads of its own and a small nursery: on a busy machine its threads come late, and
    // the garbage that they have not yet collected would be counted as what the fold needs.
    const flags = ["--max-old-space-size=250", "--max-semi-space-size=4", "--single-threaded-gc"];
    const { text, peak } = runScript("fold-memory.ts", [], flags) as { text: number; peak: number };
    console.log(
      `count: fold memory, ${text} characters, peak heap ${(peak / text).toFixed(2)} x the text`,
    );

    expect(text).toBe(100_000_000);
    expect(peak / text).toBeLessThan(2.5);
  },
);

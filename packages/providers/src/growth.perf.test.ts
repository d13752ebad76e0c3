import { describe, expect, test } from "vitest";
import { retryWhenNoisy } from "../../../tests/kit/retry-when-noisy.ts";
import { dialects } from "./testing/encode/dialects.ts";
import { longStream } from "./testing/encode/long.ts";
import type { LongKind } from "./testing/encode/long.ts";

const cases = dialects.flatMap((dialect) =>
  (["text", "arguments"] as const).map((kind: LongKind) => ({ ...dialect, kind })),
);

/** Processor time, not wall time: other processes use the machine. */
function cost(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

type Chunks = readonly Uint8Array[];

function measure(
  half: Chunks,
  full: Chunks,
  read: (chunks: Chunks) => unknown,
): { readonly exponent: number; readonly large: number } {
  const pairs = Array.from({ length: 7 }, () => {
    const small = cost(() => [read(half), read(half)]) / 2;
    const large = cost(() => read(full));
    return { exponent: Math.log2(large / small), large };
  });
  return pairs.toSorted((left, right) => left.exponent - right.exponent)[3] as (typeof pairs)[0];
}

describe("decoding one-character deltas, up to 160,000 of them", { timeout: 600_000 }, () => {
  test.each(cases)("$kind of $name takes linear time", async ({ name, kind, read }) => {
    const [half = [], full = []] = [80_000, 160_000].map((size) => longStream(name, kind, size));
    // If the work is linear, twice the half costs as much as the full one. Measured in pairs,
    // because the machine's speed drifts.
    const { exponent, large } = await retryWhenNoisy(
      async () => measure(half, full, read),
      (measured) => measured.exponent <= 1.1,
      5,
    );
    const each = (large / 160_000).toFixed(2);
    console.log(
      `count: decoding ${kind} of ${name}, 160000 deltas, exponent ${exponent.toFixed(2)}, ${each} us each`,
    );
    expect(exponent).toBeLessThanOrEqual(1.1);
  });
});

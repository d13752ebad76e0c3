import { describe, expect, test } from "vitest";
import { dialects } from "./testing/encode/dialects.ts";
import { longStream } from "./testing/encode/long.ts";
import type { LongKind } from "./testing/encode/long.ts";

const cases = dialects.flatMap((dialect) =>
  (["text", "arguments"] as const).map((kind: LongKind) => ({ ...dialect, kind })),
);

/** Processor time, not the clock's: others may use the machine. */
function cost(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

describe("decoding one-character deltas, up to 160,000 of them", { timeout: 600_000 }, () => {
  test.each(cases)("$kind of $name takes linear time", ({ name, kind, read }) => {
    const sizes = [80_000, 160_000] as const;
    const [half, full] = sizes.map((size) => longStream(name, kind, size));
    let small = Infinity;
    let large = Infinity;
    let exponent = Infinity;
    // Noise only adds, so the best counts, and a busy machine gets more tries than a slow decoder.
    for (let run = 0; run < 3 || (run < 12 && exponent > 1.1); run += 1) {
      // Twice the half, so that both pay for the same amount of garbage.
      small = Math.min(small, cost(() => [read(half ?? []), read(half ?? [])]) / 2);
      large = Math.min(
        large,
        cost(() => read(full ?? [])),
      );
      exponent = Math.log2(large / small);
    }

    const each = (large / 160_000).toFixed(2);
    console.log(
      `count: decoding ${kind} of ${name}, 160000 deltas, exponent ${exponent.toFixed(2)}, ${each} us each`,
    );
    expect(exponent).toBeLessThanOrEqual(1.1);
  });
});

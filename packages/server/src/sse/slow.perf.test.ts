import { expect, it } from "vitest";
import { retryWhenNoisy } from "../../../../tests/kit/retry-when-noisy.ts";
import { measure, quantile } from "../testing/program.ts";

interface Slow {
  /** Bytes in use for each of the two thousand viewers. */
  readonly perViewer: number;
  /** For each event the time by which 99 in 100 viewers had it, in milliseconds. */
  readonly control: readonly number[];
  readonly withStalled: readonly number[];
  /** Bytes in use after each further megabyte of text. */
  readonly held: readonly number[];
  readonly stalled: number;
  /** How many of the stalled viewers show all of the text in the end. */
  readonly right: number;
}

const limit = 1.1;

/** Noise only ever adds, and a viewer that delays others does so for every event: low quantiles. */
function delay({ control, withStalled }: Slow): number {
  return quantile(withStalled, 0.1) / quantile(control, 0.1);
}

it("viewers that do not read delay no other viewer, hold nothing that grows, and miss nothing", async () => {
  const slow = await retryWhenNoisy(
    () => measure<Slow>("slow-run.ts"),
    (measured) => delay(measured) <= limit,
  );
  const { perViewer, control, withStalled, held, stalled, right } = slow;
  const ratio = delay(slow);
  const grown = Math.max(...held) - (held[0] ?? NaN);

  console.log(
    `count: ${stalled} stalled viewers among 2,000: p99 ${quantile(withStalled, 0.1).toFixed(1)} ms to`,
    `${quantile(control, 0.1).toFixed(1)}, ${ratio.toFixed(2)} times, ${control.length} events each;`,
    `${(perViewer / 1024).toFixed(1)} KB for each viewer, and`,
    `${(grown / stalled / 1024).toFixed(1)} KB more for a stalled one after 2 MB of text; ${right} right`,
  );
  expect(ratio).toBeLessThanOrEqual(limit);
  expect(perViewer).toBeLessThan(16 * 1024);
  expect(grown / stalled).toBeLessThan(64 * 1024);
  expect(right).toBe(stalled);
}, 600_000);

import { expect, it } from "vitest";
import { calm } from "../../../../tests/kit/calm.ts";
import { measure, quantile } from "../testing/program.ts";

interface Slow {
  /** Bytes for each of the two thousand. */
  readonly perViewer: number;
  /** For each event the time by which 99 in 100 viewers had it, in milliseconds. */
  readonly control: readonly number[];
  readonly withDeaf: readonly number[];
  /** Bytes in use after each further megabyte of text. */
  readonly held: readonly number[];
  readonly deaf: number;
  /** How many of the deaf show all of the text in the end. */
  readonly right: number;
}

const limit = 1.1;

/** Noise only ever adds, and a viewer who is in the way is so for every event. */
function delay({ control, withDeaf }: Slow): number {
  return quantile(withDeaf, 0.1) / quantile(control, 0.1);
}

it("viewers who do not read delay nobody, hold nothing that grows, and miss nothing", async () => {
  const slow = await calm(
    () => measure<Slow>("slow-run.ts"),
    (measured) => delay(measured) <= limit,
  );
  const { perViewer, control, withDeaf, held, deaf, right } = slow;
  const ratio = delay(slow);
  const grown = Math.max(...held) - (held[0] ?? NaN);

  console.log(
    `count: ${deaf} deaf viewers among 2,000: p99 ${quantile(withDeaf, 0.1).toFixed(1)} ms to`,
    `${quantile(control, 0.1).toFixed(1)}, ${ratio.toFixed(2)} times, ${control.length} events each;`,
    `${(perViewer / 1024).toFixed(1)} KB for each viewer, and`,
    `${(grown / deaf / 1024).toFixed(1)} KB more for a deaf one after 2 MB of text; ${right} right`,
  );
  expect(ratio).toBeLessThanOrEqual(limit);
  expect(perViewer).toBeLessThan(16 * 1024);
  expect(grown / deaf).toBeLessThan(64 * 1024);
  expect(right).toBe(deaf);
}, 600_000);

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../../tests/kit/runs.ts";
import { defaultTimes, isDead, observe } from "./observation.ts";
import type { BeatRead, Observation } from "./observation.ts";

const { deadMs, gapMs, beatMs } = defaultTimes;

function observeAll(reads: readonly BeatRead[]): Observation | undefined {
  return reads.reduce<Observation | undefined>(
    (before, read) => observe(before, read, defaultTimes),
    undefined,
  );
}

/** The definition by search: a chain of answers without a gap, all with the beat of the last read. */
function isDeadBySearch(reads: readonly BeatRead[]): boolean {
  const last = reads.at(-1);
  if (last === undefined) return false;
  let first = last;
  for (const read of reads.toReversed()) {
    if (read.beat !== last.beat || first.answeredAt - read.answeredAt > gapMs) break;
    first = read;
  }
  return last.sentAt - first.answeredAt >= deadMs;
}

/** Reads in the order of their answers. Pauses and times to answer go beyond every limit. */
const someReads = fc
  .array(
    fc.record({
      pause: fc.integer({ min: 0, max: 900 }),
      took: fc.oneof(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 1_300 })),
      beat: fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined, freq: 8 }),
      same: fc.integer({ min: 0, max: 9 }).map((one) => one > 0),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((steps) => {
    const reads: BeatRead[] = [];
    let now = 0;
    for (const { pause, took, beat, same } of steps) {
      const before = reads.at(-1);
      const sentAt = now + pause;
      now = sentAt + took;
      const value = same && before !== undefined ? before.beat : beat;
      reads.push({ beat: value, sentAt, answeredAt: now });
    }
    return reads;
  });

interface Pause {
  readonly from: number;
  readonly to: number;
}

/** When a store that is paused in these times answers a call. */
function answerTime(at: number, pauses: readonly Pause[]): number {
  return pauses.find(({ from, to }) => at >= from && at < to)?.to ?? at;
}

describe("the observation of a driver", () => {
  const count = runs(20_000, 1_000_000);

  it("finds it dead exactly if its beat stood still for 1.5 s of reads without a gap", () => {
    let dead = 0;
    fc.assert(
      fc.property(someReads, (reads) => {
        const observed = observeAll(reads);
        const found = observed !== undefined && isDead(observed, defaultTimes);
        expect(found).toBe(isDeadBySearch(reads));
        dead += found ? 1 : 0;
      }),
      { numRuns: count },
    );
    console.log(
      `count: a driver is dead by the definition, ${count} histories, ${dead} of them dead`,
    );
    expect(dead).toBeGreaterThan(count / 100);
  });

  it("never finds a driver dead that beats whenever its store answers", () => {
    const pause = fc.tuple(
      fc.integer({ min: 0, max: 30_000 }),
      fc.integer({ min: 1, max: 20_000 }),
    );
    fc.assert(
      fc.property(
        fc.array(pause, { maxLength: 4 }),
        fc.integer({ min: 0, max: beatMs }),
        fc.integer({ min: 0, max: 400 }),
        (starts, phase, late) => {
          const pauses = starts.map(([from, ms]) => ({ from, to: from + ms }));
          const beats: number[] = [];
          for (let at = phase; at < 60_000;) {
            const stored = answerTime(at, pauses) + late;
            beats.push(stored);
            at = Math.max(stored, at + beatMs);
          }
          let observed: Observation | undefined;
          for (let sentAt = 0; sentAt < 50_000;) {
            const answeredAt = answerTime(sentAt, pauses) + 5;
            const beat = beats.filter((stored) => stored <= answeredAt).length;
            observed = observe(observed, { beat, sentAt, answeredAt }, defaultTimes);
            expect(isDead(observed, defaultTimes)).toBe(false);
            sentAt = answeredAt + beatMs;
          }
        },
      ),
      { numRuns: runs(500, 20_000) },
    );
    console.log(`count: a paused store kills no driver, ${runs(500, 20_000)} timelines, 0 deaths`);
  });

  it("finds a driver that has stopped dead within 2.1 s of its last beat", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 499 }),
        fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 8, maxLength: 8 }),
        (phase, latencies) => {
          let observed = observe(undefined, { beat: 1, sentAt: 0, answeredAt: 0 }, defaultTimes);
          let sentAt = phase; // the last beat was stored at 0
          for (const latency of latencies) {
            const answeredAt = sentAt + latency;
            observed = observe(observed, { beat: 2, sentAt, answeredAt }, defaultTimes);
            if (isDead(observed, defaultTimes)) break;
            sentAt = answeredAt + beatMs;
          }
          expect(isDead(observed, defaultTimes)).toBe(true);
          expect(sentAt).toBeLessThanOrEqual(2_100);
        },
      ),
      { numRuns: runs(2_000, 100_000) },
    );
  });
});

import { emptyDraft, fold } from "@millrace/core";
import { encodeDelta } from "@millrace/core/wire";
import { restate } from "@millrace/core/writing";
import type { Draft, RunEvent } from "@millrace/core";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { attemptOf, isLive } from "./queue-entries.ts";
import { queuedObserver } from "./queued.ts";
import { History, interleaved } from "./testing/histories.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";

vi.setConfig({ testTimeout: patience });

const numbers = fc.array(fc.nat(0xffffff), { maxLength: 60, size: "max" });

/**
 * What events come to: the facts in order, each with the drafts of these attempts at that point, and
 * for each attempt its other events, each with its draft at that point.
 */
function story(events: readonly RunEvent[], attempts: ReadonlySet<string>): string {
  const drafts = new Map<string, Draft>();
  const lines: string[] = [];
  const asides: string[] = [];
  const note = (what: string): void => {
    const open = [...drafts].toSorted(([left], [right]) => compare(left, right));
    lines.push(
      JSON.stringify([what, open.map(([name, draft]) => [name, restate(draft).map(encodeDelta)])]),
    );
  };
  for (const event of events) {
    if ("n" in event) note(`${event.sessionId} ${event.n}`);
    else if (isLive(event) && attempts.has(attemptOf(event))) {
      const attempt = attemptOf(event);
      const draft = drafts.get(attempt) ?? emptyDraft();
      if (event.type === "content_delta") drafts.set(attempt, fold(draft, event.delta));
      else
        asides.push(`${attempt} ${event.type} ${JSON.stringify(restate(draft).map(encodeDelta))}`);
    }
  }
  // Lanes have no order among each other. A stable sort keeps the order within each.
  lines.push(...asides.toSorted((left, right) => compare(laneOf(left), laneOf(right))));
  note("end");
  return lines.join("\n");
}

function laneOf(aside: string): string {
  return aside.split(" ", 3).join(" ");
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

test("queued and merged events give the same drafts; a cut attempt has no gaps", async () => {
  let merged = 0;
  let cut = 0;
  await fc.assert(
    fc.asyncProperty(
      numbers,
      numbers,
      fc.integer({ min: 1, max: 60 }),
      fc.array(fc.nat(9), { minLength: 1 }),
      async (first, second, capacity, pace) => {
        const events = interleaved(
          [new History("a", first, false), new History("b", second, false)],
          pace,
        );
        const handled: RunEvent[] = [];
        const dropped: RunEvent[] = [];
        let allowed = 0;
        let facts = 0;
        let wake: () => void = () => undefined;
        const observer = queuedObserver(
          async (event) => {
            if (allowed === 0) await new Promise<void>((resolve) => (wake = resolve));
            allowed -= 1;
            handled.push(event);
          },
          { capacity, onDropped: (event) => dropped.push(event) },
        );
        for (const [at, event] of events.entries()) {
          observer(event);
          if ("n" in event) facts += 1;
          expect(observer.waiting()).toBeLessThanOrEqual(facts + capacity);
          if ((pace[at % pace.length] ?? 0) > 6) {
            allowed += 2;
            wake();
            await Promise.resolve();
          }
        }
        allowed = Infinity;
        wake();
        await observer.idle();

        const broken = new Set(
          dropped.flatMap((event) => (isLive(event) ? [attemptOf(event)] : [])),
        );
        const whole = new Set(
          events.flatMap((event) =>
            isLive(event) && !broken.has(attemptOf(event)) ? [attemptOf(event)] : [],
          ),
        );
        expect(dropped.filter((event) => "n" in event)).toEqual([]);
        expect(story(handled, whole)).toBe(story(events, whole));
        // The events of a broken attempt fold. A gap would be a fault, or give other content.
        const lost = new Set<RunEvent>(dropped);
        const kept = events.filter((event) => !lost.has(event));
        expect(story(handled, broken)).toBe(story(kept, broken));
        for (const attempt of broken) {
          const own = events.filter((event) => isLive(event) && attemptOf(event) === attempt);
          const last = own.findLastIndex((event) => !lost.has(event));
          expect(own.slice(0, last + 1).every((event) => !lost.has(event))).toBe(true);
        }
        merged += kept.length - handled.length;
        cut += broken.size;
      },
    ),
    { numRuns: runs(300, 60_000) },
  );
  console.log(`count: ${merged} events merged away, ${cut} attempts cut short`);
  expect(merged).toBeGreaterThan(100);
  expect(cut).toBeGreaterThan(100);
});

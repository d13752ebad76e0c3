import { systemClock } from "../reference/system.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../../../tests/kit/runs.ts";
import { MillraceError } from "../errors.ts";
import type { Clock } from "../ports/clock.ts";
import { endlessPause } from "../ports/retry.ts";
import { manualClock } from "../reference/manual-clock.ts";
import { keepSubscribed } from "./keep-subscribed.ts";

/** How one subscription ends: before it is made, after so many messages, or at a message that is refused. */
type Break =
  | { readonly at: "making" | "message"; readonly after: number }
  | { readonly lasts: true };

const breaks: fc.Arbitrary<Break> = fc.record({
  at: fc.constantFrom("making" as const, "message" as const),
  after: fc.nat(4),
});

test("every message after a break is read, once and in order, and pauses are bounded and jittered", async () => {
  let checked = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(breaks, { maxLength: 20 }), fc.nat(40), async (plan, messages) => {
      const clock = manualClock();
      const end = new AbortController();
      const read: number[] = [];
      const changes: string[] = [];
      let tries = 0;
      const slept: number[] = [];
      const recording: Clock = {
        ...clock,
        sleep: (ms, signal) => {
          slept.push(ms);
          return clock.sleep(ms, signal);
        },
      };
      const kept = keepSubscribed<number>({
        clock: recording,
        signal: end.signal,
        subscribe: async () => {
          const how: Break = plan[tries] ?? { lasts: true };
          tries += 1;
          if ("at" in how && how.at === "making") throw new Error("no connection");
          return (async function* () {
            const start = read.length; // as a reader that catches up: from where it is
            for (let at = start; at < messages; at += 1) {
              if ("at" in how && at - start === how.after) throw new Error("the connection broke");
              yield at;
            }
            if ("at" in how) throw new Error("the connection broke");
          })();
        },
        onMessage: (message) => void read.push(message),
        onChange: (broken) => changes.push(broken === undefined ? "made" : "broken"),
      });
      await clock.advance(5_000 * (plan.length + 1));
      await kept;

      expect(read).toEqual(Array.from({ length: messages }, (_, at) => at));
      expect(tries).toBe(plan.length + 1);
      expect(slept.every((ms) => ms >= 50 && ms <= 5_000)).toBe(true);
      expect(changes.every((change, at) => change !== changes[at - 1])).toBe(true);
      expect([changes.at(-1), clock.sleepers()]).toEqual(["made", 0]);
      checked += 1;
    }),
    { numRuns: runs(300, 20_000) },
  );
  console.log(`count: subscriptions that break, ${checked} histories, 0 failures`);
});

test("the pause after failures is between half of its bound and its bound, and differs by chance", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_000 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (n, random) => {
        const bound = Math.min(5_000, 100 * 2 ** Math.min(n - 1, 30));
        const pause = endlessPause(n, random);
        expect(pause).toBeGreaterThanOrEqual(bound / 2);
        expect(pause).toBeLessThanOrEqual(bound);
        expect(Number.isInteger(pause)).toBe(true);
        expect(endlessPause(n, 0)).toBeLessThan(endlessPause(n, 0.9));
      },
    ),
    { numRuns: runs(1_000, 50_000) },
  );
});

test("a subscription that breaks at each first message is made ever less often", async () => {
  const clock = manualClock();
  const end = new AbortController();
  let tries = 0;
  const kept = keepSubscribed<string>({
    clock,
    signal: end.signal,
    subscribe: async () => {
      tries += 1;
      return (async function* () {
        yield "a message that is refused";
      })();
    },
    onMessage: () => Promise.reject(new Error("the store is away")),
  });
  await clock.advance(60_000);
  end.abort();
  await kept;

  expect(tries).toBeLessThan(32);
  expect(tries).toBeGreaterThan(15);
});

test("a subscription that held for long is renewed at once, after however many failures", async () => {
  const clock = manualClock();
  const end = new AbortController();
  const made: number[] = [];
  const held: ((error: Error) => void)[] = [];
  const kept = keepSubscribed<string>({
    clock,
    signal: end.signal,
    subscribe: async (signal) => {
      made.push(clock.monotonic());
      if (made.length < 8) throw new Error("no connection");
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      held.push(reject);
      signal.addEventListener("abort", () => resolve());
      return (async function* () {
        await promise;
        yield* [];
      })();
    },
    onMessage: () => undefined,
  });
  await clock.advance(60_000);
  held[0]?.(new Error("the connection broke"));
  await clock.advance(100);
  end.abort();
  await kept;

  expect(made).toHaveLength(9);
});

test("a final error rejects, the signal and the end of the session resolve", async () => {
  const clock = manualClock();
  const { signal } = new AbortController();
  const gone = new MillraceError("unknown_session", "there is none");
  const base = { clock, signal, onMessage: () => undefined };

  await expect(keepSubscribed({ ...base, subscribe: () => Promise.reject(gone) })).rejects.toThrow(
    gone,
  );
  await keepSubscribed({ ...base, subscribe: async () => (async function* () {})() });
  await keepSubscribed({
    ...base,
    signal: AbortSignal.abort(),
    subscribe: () => Promise.reject(new Error("it is not called")),
  });
  expect(clock.sleepers()).toBe(0);
});

test("a clock whose sleep returns at once does not stop the event loop", async () => {
  const instant: Clock = {
    now: () => 0,
    monotonic: () => 0,
    sleep: async () => undefined,
    after: systemClock.after,
  };
  const end = new AbortController();
  let tries = 0;
  const kept = keepSubscribed({
    clock: instant,
    signal: end.signal,
    subscribe: () => {
      tries += 1;
      return Promise.reject(new Error("no connection"));
    },
    onMessage: () => undefined,
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  end.abort();
  await kept;

  expect(tries).toBeGreaterThan(0);
  expect(tries).toBeLessThan(100);
});

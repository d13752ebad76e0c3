import { describe, expect, it } from "vitest";
import { manualClock } from "./manual-clock.ts";

describe("a manual clock", () => {
  it("stands still until it is advanced", async () => {
    const clock = manualClock(1_000);
    await new Promise((resolve) => setTimeout(resolve, 5));

    expect(clock.now()).toBe(1_000);
    await clock.advance(250);
    expect(clock.now()).toBe(1_250);
  });

  it("wakes sleepers in the order of their times, and those of one time in the order of their coming", async () => {
    const clock = manualClock();
    const woken: string[] = [];
    const sleeper = async (name: string, ms: number): Promise<void> => {
      await clock.sleep(ms);
      woken.push(`${name} at ${clock.now()}`);
    };
    const sleepers = [sleeper("c", 30), sleeper("a", 10), sleeper("b", 20), sleeper("b2", 20)];

    await clock.advance(25);
    expect(woken).toStrictEqual(["a at 10", "b at 20", "b2 at 20"]);
    expect(clock.sleepers()).toBe(1);

    await clock.advance(5);
    expect(woken.at(-1)).toBe("c at 30");
    await Promise.all(sleepers);
  });

  it("lets a woken sleeper sleep again, within the same move", async () => {
    const clock = manualClock();
    const times: number[] = [];
    const ticking = (async () => {
      for (let tick = 0; tick < 5; tick += 1) {
        await clock.sleep(100);
        times.push(clock.now());
      }
    })();

    await clock.advance(1_000);
    await ticking;

    expect(times).toStrictEqual([100, 200, 300, 400, 500]);
    expect(clock.now()).toBe(1_000);
  });

  it("does not wake a sleeper one millisecond early", async () => {
    const clock = manualClock();
    let woken = false;
    void clock.sleep(10).then(() => (woken = true));

    await clock.advance(9);
    expect(woken).toBe(false);
    await clock.advance(1);
    expect(woken).toBe(true);
  });

  it("wakes a sleeper of no time at the next move, and not before", async () => {
    const clock = manualClock();
    let woken = 0;
    void clock.sleep(0).then(() => (woken += 1));
    void clock.sleep(-5).then(() => (woken += 1));
    await Promise.resolve();
    expect(woken).toBe(0);

    await clock.advance(0);

    expect(woken).toBe(2);
    expect(clock.now()).toBe(0);
  });

  it("ends a sleep when its signal is aborted, at once and without rejecting", async () => {
    const clock = manualClock();
    const stop = new AbortController();
    const sleeping = clock.sleep(10_000, stop.signal);
    expect(clock.sleepers()).toBe(1);

    stop.abort();
    await sleeping;

    expect(clock.sleepers()).toBe(0);
    expect(clock.now()).toBe(0);
  });

  it("does not sleep at all when the signal is aborted already", async () => {
    const clock = manualClock();

    await clock.sleep(10_000, AbortSignal.abort());

    expect(clock.sleepers()).toBe(0);
  });

  it("is not disturbed by a signal that is aborted after the sleep", async () => {
    const clock = manualClock();
    const stop = new AbortController();
    const first = clock.sleep(10, stop.signal);
    const second = clock.sleep(20);
    await clock.advance(10);
    await first;

    stop.abort();

    expect(clock.sleepers()).toBe(1);
    await clock.advance(10);
    await second;
  });

  it("calls back at the time, once, among the sleepers in the order of their times", async () => {
    const clock = manualClock();
    const called: string[] = [];
    clock.after(20, () => called.push(`b at ${clock.now()}`));
    clock.after(10, () => called.push(`a at ${clock.now()}`));
    void clock.sleep(15).then(() => called.push(`sleeper at ${clock.now()}`));
    expect(clock.sleepers()).toBe(3);

    await clock.advance(9);
    expect(called).toStrictEqual([]);
    await clock.advance(100);

    expect(called).toStrictEqual(["a at 10", "sleeper at 15", "b at 20"]);
    expect(clock.sleepers()).toBe(0);
  });

  it("does not call back what was taken back, also while others of that time are called", async () => {
    const clock = manualClock();
    const called: string[] = [];
    const takeBack = clock.after(10, () => called.push("taken back"));
    clock.after(10, () => {
      called.push("first");
      takeSecond();
    });
    const takeSecond = clock.after(10, () => called.push("second"));

    takeBack();
    takeBack();
    await clock.advance(10);
    takeSecond();

    expect(called).toStrictEqual(["first"]);
    expect(clock.sleepers()).toBe(0);
  });
});

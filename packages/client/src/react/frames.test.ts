import { afterEach, expect, it, vi } from "vitest";
import { inFrames } from "./frames.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A page whose frames come when the result is called. */
function page(): () => void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let asked: (() => void)[] = [];
  vi.stubGlobal("requestAnimationFrame", (call: () => void) => asked.push(call));
  vi.stubGlobal("cancelAnimationFrame", (at: number) => (asked[at - 1] = () => undefined));
  return () => {
    const calls = asked;
    asked = [];
    for (const call of calls) call();
  };
}

it("what is asked for any number of times is called once in the next frame, and never after the end", () => {
  const showFrame = page();
  let calls = 0;
  const frames = inFrames(() => (calls += 1));
  for (let at = 0; at < 100; at += 1) frames.ask();
  expect(calls).toBe(0);
  showFrame();
  showFrame();
  expect(calls).toBe(1);
  frames.ask();
  showFrame();
  expect(calls).toBe(2);
  frames.ask();
  frames.end();
  showFrame();
  vi.advanceTimersByTime(1_000);
  expect(calls).toBe(2);
});

it("a hidden page, which has no frames, is called after a tenth of a second; without a page at once", () => {
  page();
  let calls = 0;
  const frames = inFrames(() => (calls += 1));
  frames.ask();
  vi.advanceTimersByTime(99);
  expect(calls).toBe(0);
  vi.advanceTimersByTime(1);
  expect(calls).toBe(1);
  vi.unstubAllGlobals();
  frames.ask();
  expect(calls).toBe(2);
});

import { expect, it } from "vitest";
import { createTap } from "./tap.ts";

async function take<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}

it("a tap keeps the newest values up to its capacity, in order", async () => {
  const tap = createTap<number>(10, () => undefined);
  for (let value = 0; value < 1_000; value += 1) tap.push(value);
  tap.end();
  tap.push(1_000);

  expect(await take(tap)).toEqual([990, 991, 992, 993, 994, 995, 996, 997, 998, 999]);
});

it("a tap that failed gives what it has, throws once, and is over", async () => {
  const tap = createTap<number>(10, () => undefined);
  tap.push(1);
  tap.fail(new Error("broke"));
  tap.end();
  const reader = tap[Symbol.asyncIterator]();

  expect(await reader.next()).toEqual({ done: false, value: 1 });
  await expect(reader.next()).rejects.toThrow("broke");
  expect(await reader.next()).toEqual({ done: true, value: undefined });
});

it("a reader who waits is told the value, the end and the failure", async () => {
  const taps = [1, 2, 3].map(() => createTap<number>(10, () => undefined));
  const waiting = taps.map((tap) => tap[Symbol.asyncIterator]().next());

  taps[0]?.push(7);
  taps[1]?.end();
  taps[2]?.fail(new Error("broke"));

  const answers = await Promise.allSettled(waiting);
  expect(
    answers.map((answer) => (answer.status === "fulfilled" ? answer.value : "failed")),
  ).toEqual([{ done: false, value: 7 }, { done: true, value: undefined }, "failed"]);
});

it("the end is told once, whichever side it comes from", async () => {
  let ends = 0;
  const tap = createTap<number>(10, () => (ends += 1));
  tap.push(1);
  tap.push(2);

  for await (const _ of tap) break;
  tap.end();
  tap.fail(new Error("late"));

  expect(ends).toBe(1);
  expect(await take(tap)).toEqual([]);
});

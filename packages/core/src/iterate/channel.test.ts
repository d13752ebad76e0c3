import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { createChannel } from "./channel.ts";
import type { Channel } from "./channel.ts";

vi.setConfig({ testTimeout: patience });

const times = runs(5_000, 200_000);

async function drain<T>(channel: Channel<T>): Promise<readonly T[]> {
  const taken: T[] = [];
  for await (const value of channel) taken.push(value);
  return taken;
}

describe("a channel", () => {
  it("gives values in the order in which they were pushed, and then ends", async () => {
    const channel = createChannel<number>(10);
    for (const value of [1, 2, 3]) channel.push(value);
    channel.end();

    expect(await drain(channel)).toStrictEqual([1, 2, 3]);
  });

  it("wakes a reader that waits", async () => {
    const channel = createChannel<string>(10);
    const reader = channel[Symbol.asyncIterator]();
    const next = reader.next();

    channel.push("a");

    expect(await next).toStrictEqual({ done: false, value: "a" });
  });

  it("ends a reader that waits", async () => {
    const channel = createChannel<string>(10);
    const taken = drain(channel);

    channel.end();

    expect(await taken).toStrictEqual([]);
  });

  it("that failed gives what it has, throws once, and is over", async () => {
    const channel = createChannel<number>(10);
    channel.push(1);
    channel.fail(new Error("broke"));
    channel.end();
    const reader = channel[Symbol.asyncIterator]();

    expect(await reader.next()).toStrictEqual({ done: false, value: 1 });
    await expect(reader.next()).rejects.toThrow("broke");
    expect(await reader.next()).toStrictEqual({ done: true, value: undefined });
  });

  it("throws at a reader that waits", async () => {
    const channel = createChannel<string>(10);
    const taken = drain(channel);

    channel.fail(new Error("broke"));

    await expect(taken).rejects.toThrow("broke");
  });

  it("reports its end once, and throws nothing at a reader that has left", async () => {
    let ends = 0;
    const channel = createChannel<number>(10, () => (ends += 1));
    channel.push(1);

    for await (const _ of channel) break;
    channel.end();
    channel.fail(new Error("late"));

    expect(ends).toBe(1);
    expect(await drain(channel)).toStrictEqual([]);
  });

  it("answers in order a reader that calls next twice before there is a value", async () => {
    const channel = createChannel<string>(10);
    const reader = channel[Symbol.asyncIterator]();
    const asked = [reader.next(), reader.next(), reader.next()];

    channel.push("a");
    channel.push("b");
    channel.end();

    expect(await Promise.all(asked)).toStrictEqual([
      { done: false, value: "a" },
      { done: false, value: "b" },
      { done: true, value: undefined },
    ]);
  });

  it("drops the oldest values above its capacity, and no others", async () => {
    const channel = createChannel<number>(3);
    for (let value = 1; value <= 100; value += 1) channel.push(value);
    channel.end();

    expect(await drain(channel)).toStrictEqual([98, 99, 100]);
  });

  it("takes undefined for a value like any other", async () => {
    const channel = createChannel<undefined>(3);
    channel.push(undefined);
    channel.end();

    expect(await drain(channel)).toStrictEqual([undefined]);
  });

  it("ignores what is pushed after its end", async () => {
    const channel = createChannel<number>(3);
    channel.push(1);
    channel.end();
    channel.push(2);

    expect(await drain(channel)).toStrictEqual([1]);
  });

  it("calls onEnd once, whichever side ends it", async () => {
    let ends = 0;
    const byWriter = createChannel<number>(3, () => (ends += 1));
    byWriter.end();
    byWriter.end();
    await drain(byWriter);
    expect(ends).toBe(1);

    const byReader = createChannel<number>(3, () => (ends += 1));
    byReader.push(1);
    for await (const _ of byReader) break;
    byReader.end();
    expect(ends).toBe(2);
  });

  it("is over for its writer when the reader leaves", async () => {
    const channel = createChannel<number>(3);
    channel.push(1);
    for await (const _ of channel) break;

    channel.push(2);

    expect(await drain(channel)).toStrictEqual([]);
  });

  it("lets a reader leave while it waits, without a value to wake it", async () => {
    let ended = false;
    const channel = createChannel<number>(3, () => {
      ended = true;
    });
    const reader = channel[Symbol.asyncIterator]();
    const waiting = reader.next();

    void reader.return?.();
    await new Promise((resolve) => setTimeout(resolve, 10));

    expect(ended).toBe(true);
    expect(await waiting).toStrictEqual({ done: true, value: undefined });
  });

  it("lets a reader leave before it has taken anything", async () => {
    let ended = false;
    const channel = createChannel<number>(3, () => {
      ended = true;
    });

    await channel[Symbol.asyncIterator]().return?.();

    expect(ended).toBe(true);
  });

  it("behaves like a short queue under any interleaving of pushing and taking", async () => {
    // A number pushes that many values; `undefined` takes one if there is one.
    const steps = fc.array(fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }), {
      maxLength: 30,
    });

    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 6 }), steps, async (capacity, actions) => {
        const channel = createChannel<number>(capacity);
        const reader = channel[Symbol.asyncIterator]();
        let queue: number[] = [];
        let pushed = 0;
        for (const action of actions) {
          if (action !== undefined) {
            for (let times = 0; times < action; times += 1) {
              channel.push((pushed += 1));
              queue = [...queue, pushed].slice(-capacity);
            }
          } else if (queue.length > 0) {
            const taken = await reader.next();
            if (taken.value !== queue[0]) throw new Error(`not ${queue[0]}`);
            queue = queue.slice(1);
          }
        }
        channel.end();
        for (const expected of queue) {
          const taken = await reader.next();
          if (taken.value !== expected) throw new Error(`not ${expected}`);
        }
        if ((await reader.next()).done !== true) throw new Error("does not end");
      }),
      { numRuns: times },
    );
    console.log(`count: a channel is a short queue, ${times} interleavings, 0 failures`);
  });
});

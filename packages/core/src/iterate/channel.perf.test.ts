import { expect, it, vi } from "vitest";
import { growth, notQuadratic } from "../../../../tests/kit/growth.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { createChannel } from "./channel.ts";

vi.setConfig({ testTimeout: patience });

it("a value costs the same, however many wait", async () => {
  const ratio = await growth(25_000, (size) => async () => {
    const channel = createChannel<number>(size);
    for (let value = 0; value < size; value += 1) channel.push(value);
    channel.end();
    let taken = 0;
    for await (const _ of channel) taken += 1;
    expect(taken).toBe(size);
  });

  expect(ratio).toBeLessThan(notQuadratic);
});

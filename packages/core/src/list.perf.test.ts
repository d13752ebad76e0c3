import { expect, it, vi } from "vitest";
import { List } from "./list.ts";
import { growth, notQuadratic } from "./testing/growth.ts";

vi.setConfig({ testTimeout: 60_000 });

it("growing a list is linear", async () => {
  const ratio = await growth(20_000, (size) => () => {
    let list = List.of<number>();
    for (let row = 0; row < size; row += 1) list = list.append(row);
    expect(list.length).toBe(size);
  });

  expect(ratio).toBeLessThan(notQuadratic);
});

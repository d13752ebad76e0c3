import { expect, it, vi } from "vitest";
import { List } from "./list.ts";
import { growth, notQuadratic } from "../../../tests/kit/growth.ts";
import { patience } from "../../../tests/kit/patience.ts";

vi.setConfig({ testTimeout: patience });

it("growing a list is linear", async () => {
  const ratio = await growth(8_000, (size) => () => {
    let list = List.of<number>();
    for (let row = 0; row < size; row += 1) list = list.append(row);
    expect(list.length).toBe(size);
  });

  expect(ratio).toBeLessThan(notQuadratic);
});

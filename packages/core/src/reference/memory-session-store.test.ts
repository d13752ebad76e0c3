import { expect, it } from "vitest";
import { inputId } from "../ids.ts";
import { memorySessionStore } from "./memory-session-store.ts";
import { systemClock } from "./system.ts";

it("the time of facts does not follow a wall clock that jumps", async () => {
  let [wall, passed] = [1_000_000, 0];
  const clock = { ...systemClock, now: () => wall, monotonic: () => passed };
  const store = memorySessionStore({ clock });
  const { uid } = await store.create({ sessionId: "talk" });
  for (const [at, jump] of [0, 3_600_000, -7_200_000].entries()) {
    wall += jump;
    passed += 10;
    await store.accept(uid, `key_${at}`, {
      type: "input_accepted",
      inputId: inputId(`input_${at}`),
      input: { kind: "prompt", parts: [] },
    });
  }

  const times = (await store.read(uid)).map(({ time }) => time);

  expect(times).toEqual([1_000_010, 1_000_020, 1_000_030]);
  expect(store.now()).toBe(1_000_030);
});

import { systemClock as clock } from "@millrace/core/ports";
import { expect, it } from "vitest";
import { Requests } from "../http/requests.ts";
import { ClientOutbox, memoryOutbox, storageOutbox } from "./outbox.ts";
import type { OutboxPost, TextStorage } from "./outbox.ts";

/** A `localStorage` in memory that holds a number of entries. */
function storageOf(entries: Record<string, string> = {}, most = Infinity): TextStorage {
  const all = new Map(Object.entries(entries));
  return {
    get length() {
      return all.size;
    },
    key: (at) => [...all.keys()][at] ?? null,
    getItem: (key) => all.get(key) ?? null,
    setItem: (key, value) => {
      if (all.size >= most && !all.has(key)) throw new DOMException("full", "QuotaExceededError");
      all.set(key, value);
    },
    removeItem: (key) => void all.delete(key),
  };
}

const day = 24 * 3_600_000;
const post = (key: string, time = 1_000): OutboxPost => ({
  key,
  sessionId: "s",
  who: "acme/ann",
  path: "/inputs",
  body: { text: "Hi" },
  time,
});

it("what one page has put is loaded by the next one, until it is removed", async () => {
  const storage = storageOf({ theme: "dark" });
  const first = storageOutbox(storage, () => 2_000);
  await first.put(post("a"));
  await first.put(post("b"));
  await first.remove("a");
  expect(await storageOutbox(storage, () => 2_000).load()).toEqual([post("b")]);
  expect(storage.getItem("theme")).toBe("dark");
});

it("what can't be read or is a week old is removed, and what is not its own stays", async () => {
  const kept = JSON.stringify(post("old"));
  const storage = storageOf({
    "millrace:outbox:old": kept,
    "millrace:outbox:torn": kept.slice(0, 20),
    "millrace:outbox:null": "null",
    "millrace:outbox:half": JSON.stringify({ key: "half", time: 1 }),
    other: "{",
  });
  expect(await storageOutbox(storage, () => 1_000 + 6 * day).load()).toEqual([post("old")]);
  expect(storage.length).toBe(2);
  expect(await storageOutbox(storage, () => 1_000 + 7 * day).load()).toEqual([]);
  expect([storage.length, storage.key(0)]).toEqual([1, "other"]);
});

it("what does not fit is not kept, and nobody is stopped by it", async () => {
  const storage = storageOf({}, 1);
  const outbox = storageOutbox(storage, () => 2_000);
  await outbox.put(post("a"));
  expect(() => outbox.put(post("b"))).not.toThrow();
  expect(await outbox.load()).toEqual([post("a")]);
});

it("what was kept for a user is named to nobody else, in the order in which it was kept", async () => {
  const outbox = memoryOutbox();
  const requests = new Requests({ url: "/", token: undefined, fetch, random: () => 0, clock });
  const kept = new ClientOutbox(outbox, requests, undefined);
  const { who: _, ...unnamed } = post("c", 3_000);
  kept.put(unnamed); // before the first answer
  for (const each of [post("b", 2_000), post("a", 1_000)]) await outbox.put(each);

  expect(await kept.named("acme/eve", undefined)).toEqual([]);
  expect(await outbox.load()).toContainEqual({ ...unnamed, who: "acme/eve" });
  expect(await kept.named("acme/ann", undefined)).toEqual([post("a", 1_000), post("b", 2_000)]);
});

it("what this page itself has sent is not left to it by an earlier page", async () => {
  const outbox = memoryOutbox();
  const parts = { url: "/", token: "ann", fetch, random: () => 0, clock } as const;
  const kept = new ClientOutbox(outbox, new Requests(parts), undefined);
  const { who: _, ...own } = post("own");
  kept.put(own); // before the first answer: under a mark
  while ((await outbox.load()).length === 0) await clock.sleep(1);

  const named = kept.named("acme/ann", "ann"); // by the answer to it
  kept.remove("own");

  expect(await named).toEqual([]);
  expect(await outbox.load()).toEqual([]);
});

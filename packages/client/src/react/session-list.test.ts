import { MillraceError } from "@millrace/core";
import { systemClock } from "@millrace/core/ports";
import { expect, it } from "vitest";
import type { SessionDetails } from "../session/types.ts";
import { SessionListStore } from "./session-list.ts";
import type { ReadPage } from "./session-list.ts";

const details = (id: string, head = 1): SessionDetails => ({
  id,
  metadata: {},
  status: "idle",
  head,
  createdAt: 1,
  updatedAt: head,
});

const listOf = (read: ReadPage): SessionListStore => new SessionListStore(read, systemClock);

it("a session that did not change is the same object, and a list in which nothing changed is the same list", async () => {
  let listed = [details("a"), details("b")];
  const store = listOf(() => Promise.resolve({ sessions: structuredClone(listed) }));
  await store.refresh();
  const first = store.view();
  await store.refresh();
  expect(store.view()).toBe(first);

  listed = [details("b", 2), details("a")];
  await store.refresh();
  const second = store.view();
  expect(second.sessions.map(({ id, head }) => [id, head])).toEqual([
    ["b", 2],
    ["a", 1],
  ]);
  expect(second.sessions[1]).toBe(first.sessions[0]);
});

it("pages are added one by one and are all read again", async () => {
  const asked: (string | undefined)[] = [];
  const store = listOf((after) => {
    asked.push(after);
    const at = Number(after ?? 0);
    const next = at < 2 ? { next: String(at + 1) } : {};
    return Promise.resolve({ sessions: [details(`s${at}`)], ...next });
  });
  await store.refresh();
  expect(store.view()).toMatchObject({ more: true, loading: false });
  await store.loadMore();
  await store.loadMore();
  await store.loadMore();
  expect(store.view().sessions.map(({ id }) => id)).toEqual(["s0", "s1", "s2"]);
  expect(store.view().more).toBe(false);
  expect(asked).toEqual([undefined, undefined, "1", undefined, "1", "2", undefined, "1", "2"]);
});

it("a refusal is shown beside what was read before", async () => {
  let isRefused = false;
  const store = listOf(() =>
    isRefused
      ? Promise.reject(new MillraceError("refused", "who is this?"))
      : Promise.resolve({ sessions: [details("a")] }),
  );
  await store.refresh();
  isRefused = true;
  await store.refresh();
  expect(store.view()).toMatchObject({
    sessions: [{ id: "a" }],
    error: { code: "refused", message: "who is this?" },
  });
  isRefused = false;
  await store.refresh();
  expect(store.view().error).toBeUndefined();
});

it("it is read while somebody subscribes, soon after a change, and not after the last one left", async () => {
  let reads = 0;
  const store = listOf(() => {
    reads += 1;
    return Promise.resolve({ sessions: [details("a", reads)] });
  });
  store.touch(); // nobody looks
  expect(store.view()).toBe(store.firstView());
  let leave = (): void => undefined;
  const next = async (): Promise<void> => {
    await new Promise<void>((resolve) => (leave = store.subscribe(resolve)));
  };
  await next();
  expect(reads).toBe(1);
  const again = new Promise<void>((resolve) => store.subscribe(resolve));
  store.touch();
  store.touch();
  await again;
  expect(reads).toBe(2);
  leave();
});

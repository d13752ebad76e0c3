import { expect, it } from "vitest";
import type { Fact } from "../event/event.ts";
import type { Snapshot } from "../event/snapshot.ts";
import { itemId, partId, sessionId } from "../ids.ts";
import type { SessionStore } from "../ports/session-store.ts";
import { memoryEventLog } from "../reference/memory-event-log.ts";
import { memorySessionStore } from "../reference/memory-session-store.ts";
import { systemClock } from "../reference/system.ts";
import { encodeCheckpoint, readSession } from "./checkpoint.ts";
import { follow } from "./follow.ts";
import { readItems } from "./read-items.ts";
import type { Followed } from "./catch-up.ts";

const name = sessionId("long");

/** A session of 1,001 facts, nearly all of them items, with a checkpoint at its head or none. */
async function longSession({ kept }: { readonly kept: boolean }): Promise<{
  readonly uid: Awaited<ReturnType<SessionStore["create"]>>["uid"];
  readonly store: SessionStore;
  readonly read: () => number;
}> {
  const memory = memorySessionStore();
  const { uid } = await memory.create({ sessionId: name });
  await memory.claim(uid, { from: 0, head: 0 });
  const bodies = Array.from({ length: 1_000 }, (_, at) => ({
    type: "item_committed" as const,
    item: {
      id: itemId(`i${at}`),
      author: "user" as const,
      parts: [{ kind: "text" as const, id: partId("p"), text: "x".repeat(500) }],
      stop: "end" as const,
    },
  }));
  await memory.append(uid, { incarnation: 1, head: 1, bodies });
  const whole = await readSession({ store: memory, uid, sessionId: name });
  if (kept) await memory.keepCheckpoint?.(uid, encodeCheckpoint(whole));
  let read = 0;
  const counted = async (...call: Parameters<SessionStore["read"]>): Promise<readonly Fact[]> => {
    const facts = await memory.read(...call);
    read += facts.length;
    return facts;
  };
  return { uid, store: { ...memory, read: counted }, read: () => read };
}

async function firstOf(messages: AsyncIterable<Followed>): Promise<Followed> {
  for await (const message of messages) return message;
  throw new Error("nothing came");
}

const ports = { log: memoryEventLog(), clock: systemClock, sessionId: name };

it("following from a cursor reads the facts after it, and a first join those after the checkpoint", async () => {
  const { uid, store, read } = await longSession({ kept: true });

  const next = await firstOf(
    follow({ ...ports, store, uid, cursor: { uid, head: 1_000, lanes: [] } }),
  );
  expect(next.message).toMatchObject({ n: 1_001 });
  expect(read()).toBe(1);
  const joined = await firstOf(follow({ ...ports, store, uid }));
  expect(joined.cursor.head).toBe(1_001);
  expect(read()).toBe(1);
});

it.each([true, false])(
  "a joiner is sent the newest items within the budget, and at least one (checkpoint: %s)",
  async (kept) => {
    const { uid, store } = await longSession({ kept });
    for (const [snapshotBytes, count] of [
      [5_000, 8],
      [1, 1],
    ] as const) {
      const { message } = await firstOf(follow({ ...ports, store, uid, snapshotBytes }));
      const { items, earlier } = message as Snapshot;
      expect(items.map(({ id }) => id)).toEqual(
        Array.from({ length: count }, (_, at) => `i${1_000 - count + at}`),
      );
      expect(earlier).toEqual({ count: 1_000 - count, before: 1_002 - count });
    }
  },
);

it.each([true, false])(
  "pages show what became of items that a snapshot leaves out (checkpoint: %s)",
  async (kept) => {
    const { uid, store } = await longSession({ kept });
    const other = { id: itemId("i900"), author: "user", parts: [], stop: "end" } as const;
    await store.append(uid, {
      incarnation: 1,
      head: 1_001,
      bodies: [{ type: "item_replaced", item: other }],
    });
    const page = await readItems({ store, uid, earlier: { count: 910, before: 912 }, limit: 20 });

    expect(page.items.map(({ id }) => id)).toEqual(
      Array.from({ length: 20 }, (_, at) => `i${890 + at}`),
    );
    expect(page.items[10]).toEqual(other);
    expect(page.earlier).toEqual({ count: 890, before: 892 });
  },
);

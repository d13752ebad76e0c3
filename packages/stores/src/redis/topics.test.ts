import { sessionUid } from "@millrace/core/writing";
import { expect, it, vi } from "vitest";
import { SessionCache } from "./session-cache.ts";
import type { Client, Link } from "./link.ts";
import type { Shard } from "./shards.ts";
import { singleShard } from "./shards.ts";
import { Topics } from "./topics.ts";

/** A connection whose subscriptions are confirmed by the test. */
class ManualLink {
  readonly subscriptions: { readonly channel: string; readonly confirm: () => void }[] = [];
  readonly client = {
    isReady: true,
    sSubscribe: (channel: string) =>
      new Promise<void>((confirm) => {
        this.subscriptions.push({ channel, confirm });
      }),
    sUnsubscribe: async () => undefined,
  } as unknown as Client;
}

function fixture() {
  const manual = new ManualLink();
  const link = manual as unknown as Link;
  const sessions = new SessionCache("test");
  const topics = new Topics<string>({
    shards: singleShard({ commands: link, subscriptions: link } satisfies Shard),
    sessions,
    receiver: (emit) => emit,
    capacity: 10,
    lasting: true,
  });
  const join = async (name: string): Promise<void> => {
    const uid = sessionUid(name);
    sessions.setKey(uid, "key of the session".repeat(3) as never);
    const session = sessions.of(uid);
    await topics.join(session, [{ channel: session.keys.nudges, sort: "nudge" }], undefined);
  };
  return { manual, link, topics, join };
}

it("a lasting subscription that breaks while others are renewed is renewed too", async () => {
  const { manual, link, topics, join } = fixture();
  const joined = Promise.all([join("session_a"), join("session_b")]);
  await vi.waitFor(() => expect(manual.subscriptions).toHaveLength(2));
  for (const { confirm } of manual.subscriptions.splice(0)) confirm();
  await joined;

  topics.down(link, new Error("the connection broke"));
  await vi.waitFor(() => expect(manual.subscriptions).toHaveLength(2));
  const [first, second] = manual.subscriptions.splice(0);
  first?.confirm();
  await Promise.resolve();
  topics.down(link, new Error("the connection broke again"));
  second?.confirm();

  await vi.waitFor(() => expect(manual.subscriptions).toHaveLength(2), { timeout: 5_000 });
  expect(new Set(manual.subscriptions.map(({ channel }) => channel)).size).toBe(2);
  for (const { confirm } of manual.subscriptions) confirm();
  topics.close();
});

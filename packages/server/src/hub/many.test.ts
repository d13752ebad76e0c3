import { cursorOf, emptyState } from "@millrace/core/reading";
import { createSseDecoder, decodeCursor, receive } from "@millrace/core/wire";
import { memoryEventLog, memorySessionStore, systemClock } from "@millrace/core/memory";
import { sessionId, sessionUid } from "@millrace/core/writing";
import { expect, test } from "vitest";
import type { SessionState, SessionUid } from "@millrace/core";
import { BatchProducer } from "../testing/batch-producer.ts";
import { laneText } from "../testing/lane-text.ts";
import { createHub } from "./hub.ts";
import type { Sink, SinkEvents } from "./options.ts";

/** Reads a stream of several sessions: each line changes the session that the uid of its id names. */
class ManySink implements Sink {
  readonly states = new Map<SessionUid, SessionState>();
  readonly ends: { readonly reason: string; readonly sessionId?: string | undefined }[] = [];
  readonly order: SessionUid[] = [];
  full = false;
  events: SinkEvents | undefined;
  isEnded = false;
  readonly #decoder = createSseDecoder();

  bind(events: SinkEvents): void {
    this.events = events;
  }

  open(): void {}

  write(bytes: Uint8Array): boolean {
    for (const event of this.#decoder.feed(Buffer.from(bytes).toString()))
      if (event.kind === "event") this.#take(event.data, event.id);
    return !this.full;
  }

  end(last?: Uint8Array): void {
    if (last !== undefined) this.write(last);
    this.isEnded = true;
  }

  drain(): void {
    this.full = false;
    this.events?.drained();
  }

  text(uid: SessionUid): string | undefined {
    return laneText(this.states.get(uid) ?? emptyState(uid, sessionId("none")));
  }

  #take(data: string, id: string): void {
    const uid = decodeCursor(id)?.uid;
    const received = receive(uid && this.states.get(uid), data, id);
    if (received.outcome === "ended") this.ends.push(received.ended);
    else if (uid !== undefined && "state" in received) {
      this.states.set(uid, received.state);
      this.order.push(uid);
    } else throw new TypeError(`${received.outcome}: ${id} ${data}`);
  }
}

async function openMany(count: number) {
  const store = memorySessionStore();
  const log = memoryEventLog();
  const producers = await Promise.all(
    Array.from({ length: count }, (_, at) => BatchProducer.open(store, log, { name: `s${at}` })),
  );
  const hub = createHub({ store, log, clock: systemClock, pollMs: 100 });
  return { store, log, producers, hub };
}

const settle = (ms = 20): Promise<void> => new Promise((wake) => setTimeout(wake, ms));

test("fifty sessions come over one stream, each with its own text and cursors", async () => {
  const { producers, hub } = await openMany(50);
  using _ = hub;
  const sink = new ManySink();
  void hub.deliverMany({ sessions: producers }, sink);
  await settle();
  for (let round = 0; round < 5; round += 1)
    for (const [at, producer] of producers.entries()) await producer.append(`${at}.${round} `);
  await settle();

  expect(sink.states.size).toBe(50);
  for (const [at, { uid }] of producers.entries())
    expect(sink.text(uid)).toBe([0, 1, 2, 3, 4].map((round) => `${at}.${round} `).join(""));
});

test("a session that can't be read, is not there, is revoked or removed is told by its id, and the others go on", async () => {
  const { store, producers, hub } = await openMany(3);
  using _ = hub;
  const [first, second, third] = producers as [BatchProducer, BatchProducer, BatchProducer];
  const control = new AbortController();
  const sink = new ManySink();
  void hub.deliverMany(
    {
      sessions: [
        { sessionId: "foreign", ended: "not_found" },
        { uid: sessionUid("nobody"), sessionId: sessionId("gone") },
        { uid: first.uid, sessionId: first.sessionId, signal: control.signal },
        second,
        third,
      ],
    },
    sink,
  );
  await settle();
  control.abort("revoked");
  await store.remove(second.uid);
  await settle(400);
  await first.append("unseen");
  await third.append("seen");
  await settle();

  expect(sink.ends).toEqual([
    { v: 1, type: "stream_ended", reason: "not_found", sessionId: "foreign" },
    { v: 1, type: "stream_ended", reason: "not_found", sessionId: "gone" },
    { v: 1, type: "stream_ended", reason: "revoked", sessionId: "s0" },
    { v: 1, type: "stream_ended", reason: "removed", sessionId: "s1" },
  ]);
  expect([sink.text(first.uid), sink.text(third.uid), sink.isEnded]).toEqual(["", "seen", false]);
});

test("a stream whose last session has ended ends, also if its sink was full", async () => {
  const { producers, hub } = await openMany(1);
  using _ = hub;
  const control = new AbortController();
  const [{ uid, sessionId: name }] = producers as [BatchProducer];
  const sink = new ManySink();
  sink.full = true;
  const ended = hub.deliverMany(
    { sessions: [{ uid, sessionId: name, signal: control.signal }] },
    sink,
  );
  await settle();
  control.abort("revoked");
  await settle();
  expect([sink.isEnded, sink.ends]).toEqual([false, []]);
  sink.drain();

  expect(await ended).toEqual({});
  expect([sink.isEnded, sink.ends.map(({ reason }) => reason)]).toEqual([true, ["revoked"]]);
});

test("a stream that is full serves its sessions in turns afterwards", async () => {
  const { producers, hub } = await openMany(10);
  using _ = hub;
  const sink = new ManySink();
  void hub.deliverMany({ sessions: producers }, sink);
  await settle();
  sink.full = true;
  for (const producer of producers) await producer.append("a");
  await settle();
  for (let turn = 0; turn < 60; turn += 1) {
    for (const producer of producers.slice(0, 2)) await producer.append("b");
    await settle(1);
    sink.full = true;
    sink.events?.drained();
  }

  // The two busy sessions do not keep the eight others waiting.
  for (const { uid } of producers) expect(sink.text(uid)?.startsWith("a")).toBe(true);
});

test("a reader comes back with its cursors and is sent nothing twice", async () => {
  const { producers, hub } = await openMany(3);
  using _ = hub;
  const [first, second] = producers as [BatchProducer, BatchProducer];
  const control = new AbortController();
  const sink = new ManySink();
  const ended = hub.deliverMany({ sessions: [first, second], signal: control.signal }, sink);
  await settle();
  await first.append("one ");
  await second.append("uno ");
  await settle();
  control.abort("recycled");
  expect(await ended).toEqual({ reason: "recycled" });
  expect(sink.ends).toEqual([{ v: 1, type: "stream_ended", reason: "recycled" }]);
  const cursors = new Map([...sink.states].map(([uid, state]) => [uid, cursorOf(state)]));
  await second.append("dos");
  const again = new ManySink();
  for (const [uid, state] of sink.states) again.states.set(uid, state);
  const sessions = producers.map(({ uid, sessionId: name }) => ({
    uid,
    sessionId: name,
    cursor: cursors.get(uid),
  }));
  void hub.deliverMany({ sessions }, again);
  await settle();

  expect(again.text(second.uid)).toBe("uno dos");
  expect(again.order.filter((uid) => uid === first.uid)).toEqual([]);
  expect(again.order.filter((uid) => uid === second.uid)).toHaveLength(1);
});

test("more than fifty sessions are refused", async () => {
  const { hub, producers } = await openMany(51);
  using _ = hub;

  await expect(hub.deliverMany({ sessions: producers }, new ManySink())).rejects.toMatchObject({
    code: "invalid_definition",
  });
});

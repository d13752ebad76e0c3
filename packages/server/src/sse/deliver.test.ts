import { sessionUid } from "@millrace/core/writing";
import { expect, test } from "vitest";
import { createHub } from "../hub/hub.ts";
import type { HubOptions } from "../hub/options.ts";
import { RecordingSink } from "../testing/recording-sink.ts";
import { itemTexts } from "../testing/client.ts";
import { laneText } from "../testing/lane-text.ts";
import { name, SessionFixture } from "../testing/session-fixture.ts";

async function openHubFixture(options: Partial<HubOptions> = {}) {
  const session = await SessionFixture.open();
  const { store, log, clock, uid } = session;
  const hub = createHub({ store, log, clock, ...options });
  // A delivery flushes in a tick, so a turn of the event loop lets it run.
  const settle = async (ms = 1): Promise<void> => {
    await clock.advance(ms);
    await new Promise(setImmediate);
  };
  const show = (sink: RecordingSink, signal?: AbortSignal): Promise<unknown> =>
    hub
      .deliver({ uid, sessionId: name, cursor: sink.cursor, signal }, sink)
      .then(() => "ended")
      .catch((error: unknown) => error);
  return { session, hub, settle, show };
}

const shown = (sink: RecordingSink): string | undefined => sink.state && laneText(sink.state);

test("a sink is opened after it is settled where the viewer begins, and before anything is written", async () => {
  const { session, settle, show } = await openHubFixture();
  const answer = Promise.withResolvers<void>();
  session.heldRead = answer.promise;
  const sink = new RecordingSink();
  void show(sink);
  await settle();
  expect(sink.calls).toEqual(["bind"]);
  await session.acceptInput();
  answer.resolve();
  await settle();

  expect(sink.calls).toEqual(["bind", "open", "write"]);
  await settle(5_000);
  expect(sink.state?.head).toBe(await session.truth.head(session.uid));
});

test("a viewer that is up to date gets nothing but the opening of its sink", async () => {
  const { session, settle, show } = await openHubFixture();
  const first = new RecordingSink();
  void show(first);
  await settle();
  const second = new RecordingSink();
  second.cursor = first.cursor;
  second.state = first.state;
  void show(second);
  await settle();

  expect(second.calls).toEqual(["bind", "open", "write"]);
  const head = await session.truth.head(session.uid);
  const opening = second.frames.map((frame) => Buffer.from(frame).toString());
  expect(opening).toEqual([`retry: ${second.reader.retries[0]}\n: ${head}\n\n`]);
});

test("what comes in together goes out as one frame, and all viewers are given the same bytes", async () => {
  const { session, settle, show } = await openHubFixture();
  const sinks = Array.from({ length: 20 }, () => new RecordingSink());
  for (const sink of sinks) void show(sink);
  await settle();
  const writer = await session.start();
  await writer.write("begun, ");
  await settle();
  const before = sinks.map(({ frames }) => frames.length);
  for (let batch = 0; batch < 10; batch += 1) await writer.write(`${batch} `);
  await settle();

  expect(sinks.map(({ frames }, at) => frames.length - (before[at] ?? 0))).toEqual(
    sinks.map(() => 1),
  );
  // But for the opening, whose time to come back is each viewer's own.
  const shared = sinks.map(({ frames }) => frames.slice(1));
  expect(new Set(shared.flat()).size).toBe(shared[0]?.length);
  expect(new Set(sinks.map(shown))).toEqual(new Set(["begun, 0 1 2 3 4 5 6 7 8 9 "]));
});

test("viewers that join one after the other at one state are given the same bytes", async () => {
  const { session, settle, show } = await openHubFixture();
  const sinks = [new RecordingSink(), new RecordingSink(), new RecordingSink()];
  for (const sink of sinks) {
    void show(sink);
    await session.clock.advance(100);
    await settle();
  }

  expect(new Set(sinks.map(({ frames }) => frames[1])).size).toBe(1);
});

test("viewers that wait for the same join are served each from its own cursor", async () => {
  const { session, hub, settle, show } = await openHubFixture();
  const early = new RecordingSink();
  void show(early);
  await settle();
  early.leave();
  hub[Symbol.dispose]();
  await session.acceptInput();
  const { store, log, clock, uid } = session;
  using other = createHub({ store, log, clock });
  const late = new RecordingSink();
  for (const sink of [late, early])
    void other.deliver({ uid, sessionId: name, cursor: sink.cursor }, sink);
  await settle();

  expect([late, early].map(({ snapshots }) => snapshots)).toEqual([1, 1]);
  expect([late, early].map(({ messages }) => messages)).toEqual([1, 2]);
  expect(early.state?.head).toBe(late.state?.head);
});

test("a sink that is full is given nothing until it has drained, and then few frames", async () => {
  const { session, settle, show } = await openHubFixture({ keptMessages: 16 });
  const sink = new RecordingSink();
  const other = new RecordingSink();
  void show(sink);
  void show(other);
  await settle();
  sink.full = true;
  const writer = await session.start();
  let text = "";
  for (let batch = 0; batch < 200; batch += 1) {
    await writer.write(`${batch} `);
    text += `${batch} `;
    await settle();
  }
  await settle(5_000);
  expect(sink.frames).toHaveLength(3); // the opening, the snapshot, and what filled it
  expect(shown(other)).toBe(text);
  sink.drain();
  await settle();

  expect(sink.frames.length).toBeLessThan(7);
  expect(sink.snapshots).toBe(1);
  expect(shown(sink)).toBe(text);
});

test("a sink that is full time and again gets every fact once, in order", async () => {
  for (const every of [1, 2, 5]) {
    const { session, settle, show } = await openHubFixture({ keptMessages: 4 });
    const sink = new RecordingSink();
    void show(sink);
    await settle();
    const texts: string[] = [];
    for (let reply = 0; reply < 12; reply += 1) {
      sink.full = true;
      const writer = await session.start();
      for (let batch = 0; batch < 6; batch += 1) await writer.write(`${reply}.${batch} `);
      await writer.commit();
      await session.acceptInput();
      texts.push([0, 1, 2, 3, 4, 5].map((batch) => `${reply}.${batch} `).join(""));
      await settle();
      if (reply % every === 0) sink.drain();
      await settle();
    }
    sink.drain();
    await settle();

    expect(sink.snapshots).toBe(1);
    expect(sink.state && itemTexts(sink.state)).toEqual(texts);
    expect(sink.state?.head).toBe(await session.truth.head(session.uid));
  }
});

test("a heartbeat is a comment with the head, has no id, and comes every 15 s", async () => {
  const { session, settle, show } = await openHubFixture();
  const sink = new RecordingSink();
  const full = new RecordingSink();
  void show(sink);
  void show(full);
  await settle();
  full.full = true;
  await session.acceptInput();
  await settle();
  const { cursor } = sink;
  session.losesMessages = true;
  await session.acceptInput();
  await settle(15_000);
  const head = await session.truth.head(session.uid);

  expect(sink.comments).toEqual([`: ${head}\n\n`]);
  // The facts up to that head were sent before it.
  expect(Buffer.from(sink.frames.at(-1) ?? []).toString()).toBe(`: ${head}\n\n`);
  expect(full.comments).toEqual([]);
  expect(sink.cursor?.head).toBe((cursor?.head ?? NaN) + 1);
  expect(sink.calls).toEqual(["bind", "open", "write"]);
  await settle(15_000);
  expect(sink.comments).toHaveLength(2);
  expect(sink.cursor?.head).toBe(head);
});

test("a sink that throws ends its own delivery and no other", async () => {
  const { session, hub, settle, show } = await openHubFixture({ lingerMs: 0 });
  const sinks = [new RecordingSink(), new RecordingSink(), new RecordingSink()] as const;
  const outcomes = sinks.map((sink) => show(sink));
  await settle();
  const fault = new Error("a broken sink");
  sinks[0].fault = fault;
  sinks[1].leave();
  const writer = await session.start();
  await writer.write("still here");
  await settle();

  expect(await Promise.all(outcomes.slice(0, 2))).toEqual([fault, "ended"]);
  expect(sinks.map(({ calls }) => calls.at(-1))).toEqual(["end", "write", "write"]);
  expect(sinks.map(shown)).toEqual([undefined, undefined, "still here"]);
  sinks[2].leave();
  await settle();
  expect(await outcomes[2]).toBe("ended");
  expect(hub.sessions()).toBe(0);
});

test("a session that does not exist rejects, and its sink is not opened", async () => {
  const { hub } = await openHubFixture();
  const sink = new RecordingSink();

  await expect(
    hub.deliver({ uid: sessionUid("nobody"), sessionId: name }, sink),
  ).rejects.toMatchObject({ code: "unknown_session" });
  expect(sink.calls).toEqual(["bind"]);
});

test("a broken subscription ends no sink, and one read brings all what they missed", async () => {
  const { session, settle, show } = await openHubFixture();
  const sinks = Array.from({ length: 50 }, () => new RecordingSink());
  for (const sink of sinks) void show(sink);
  const writer = await session.start();
  await writer.write("before, ");
  await settle();
  session.losesMessages = true;
  await writer.write("lost, ");
  session.losesMessages = false;
  const { reads, laneReads } = session.counts;
  session.breakTails();
  await session.clock.advance(100);
  await writer.write("after");
  await settle();

  expect(new Set(sinks.map(shown))).toEqual(new Set(["before, lost, after"]));
  expect(sinks.every(({ snapshots }) => snapshots === 1)).toBe(true);
  expect(sinks.every(({ calls }) => calls.at(-1) === "write")).toBe(true);
  expect([session.counts.reads - reads, session.counts.laneReads - laneReads]).toEqual([1, 1]);
});

test("the signal and the hub end a delivery and its sink", async () => {
  const { hub, settle, show } = await openHubFixture();
  const leave = new AbortController();
  const sinks = [
    new RecordingSink(),
    new RecordingSink(),
    new RecordingSink(),
    new RecordingSink(),
  ] as const;
  const outcomes = [show(sinks[0], leave.signal), show(sinks[1])];
  await settle();
  leave.abort();
  outcomes.push(show(sinks[2], leave.signal));
  await settle();
  expect(sinks.map(({ calls }) => calls.at(-1))).toEqual(["end", "write", undefined, undefined]);
  hub[Symbol.dispose]();
  outcomes.push(show(sinks[3]));
  await settle();

  expect(sinks.map(({ calls }) => calls.at(-1))).toEqual(["end", "end", undefined, "end"]);
  // A stream that comes too late is told to come back: any other answer would end an EventSource for good.
  expect(sinks.map(({ reader }) => reader.reason)).toEqual([
    undefined,
    "drain",
    undefined,
    "drain",
  ]);
  expect(await Promise.all(outcomes)).toEqual(["ended", "ended", "ended", "ended"]);
});

test("a run's end is delivered once, and nothing of that run follows it", async () => {
  const { session, settle, show } = await openHubFixture();
  const sink = new RecordingSink();
  void show(sink);
  const zombie = await session.start();
  await zombie.write("late");
  await session.finish();
  await settle();
  const { messages } = sink;
  expect(sink.state?.ended).toMatchObject({ outcome: "completed" });
  await zombie.write(", later");
  await settle(5_000);

  expect(sink.messages).toBe(messages);
  expect(sink.state?.lanes).toEqual([]);
});

import { sessionUid } from "@millrace/core/writing";
import { expect, test } from "vitest";
import { createHub } from "../hub/hub.ts";
import type { HubOptions } from "../hub/hub.ts";
import { Basin } from "../testing/basin.ts";
import { itemTexts } from "../testing/client.ts";
import { laneText } from "../testing/lane-text.ts";
import { name, Scene } from "../testing/scene.ts";

async function stage(options: Partial<HubOptions> = {}) {
  const scene = await Scene.open();
  const { store, log, clock, uid } = scene;
  const hub = createHub({ store, log, clock, ...options });
  // Frames go out in a tick, which comes when there is nothing else to do.
  const settle = async (ms = 1): Promise<void> => {
    await clock.advance(ms);
    await new Promise(setImmediate);
  };
  const show = (sink: Basin, signal?: AbortSignal): Promise<unknown> =>
    hub
      .deliver({ uid, sessionId: name, cursor: sink.cursor, signal }, sink)
      .then(() => "ended")
      .catch((error: unknown) => error);
  return { scene, hub, settle, show };
}

const shown = (sink: Basin): string | undefined => sink.state && laneText(sink.state);

test("a sink is opened after it is settled where the viewer begins, and before anything is written", async () => {
  const { scene, settle, show } = await stage();
  const answer = Promise.withResolvers<void>();
  scene.held = answer.promise;
  const sink = new Basin();
  void show(sink);
  await settle();
  expect(sink.calls).toEqual(["bind"]);
  await scene.say();
  answer.resolve();
  await settle();

  expect(sink.calls).toEqual(["bind", "open", "write"]);
  await settle(5_000);
  expect(sink.state?.head).toBe(await scene.truth.head(scene.uid));
});

test("a viewer who is where the session is gets nothing but its opening", async () => {
  const { settle, show } = await stage();
  const first = new Basin();
  void show(first);
  await settle();
  const second = new Basin();
  second.cursor = first.cursor;
  second.state = first.state;
  void show(second);
  await settle();

  expect(second.calls).toEqual(["bind", "open"]);
});

test("what comes in together goes out as one frame, and all viewers are given the same bytes", async () => {
  const { scene, settle, show } = await stage();
  const sinks = Array.from({ length: 20 }, () => new Basin());
  for (const sink of sinks) void show(sink);
  await settle();
  const speaker = await scene.start();
  await speaker.write("begun, ");
  await settle();
  const before = sinks.map(({ frames }) => frames.length);
  for (let batch = 0; batch < 10; batch += 1) await speaker.write(`${batch} `);
  await settle();

  expect(sinks.map(({ frames }, at) => frames.length - (before[at] ?? 0))).toEqual(
    sinks.map(() => 1),
  );
  expect(new Set(sinks.flatMap(({ frames }) => frames)).size).toBe(sinks[0]?.frames.length);
  expect(new Set(sinks.map(shown))).toEqual(new Set(["begun, 0 1 2 3 4 5 6 7 8 9 "]));
});

test("viewers who join one after the other at one state are given the same bytes", async () => {
  const { settle, show } = await stage();
  const sinks = [new Basin(), new Basin(), new Basin()];
  for (const sink of sinks) {
    void show(sink);
    await settle();
  }

  expect(new Set(sinks.map(({ frames }) => frames[0])).size).toBe(1);
});

test("viewers who wait for the same join are told each from its own place", async () => {
  const { scene, hub, settle, show } = await stage();
  const early = new Basin();
  void show(early);
  await settle();
  early.leave();
  hub[Symbol.dispose]();
  await scene.say();
  const { store, log, clock, uid } = scene;
  using other = createHub({ store, log, clock });
  const late = new Basin();
  for (const sink of [late, early])
    void other.deliver({ uid, sessionId: name, cursor: sink.cursor }, sink);
  await settle();

  expect([late, early].map(({ snapshots }) => snapshots)).toEqual([1, 1]);
  expect([late, early].map(({ messages }) => messages)).toEqual([1, 2]);
  expect(early.state?.head).toBe(late.state?.head);
});

test("a sink that is full is given nothing until it has drained, and then few frames", async () => {
  const { scene, settle, show } = await stage({ keptMessages: 16 });
  const sink = new Basin();
  const other = new Basin();
  void show(sink);
  void show(other);
  await settle();
  sink.full = true;
  const speaker = await scene.start();
  let text = "";
  for (let batch = 0; batch < 200; batch += 1) {
    await speaker.write(`${batch} `);
    text += `${batch} `;
    await settle();
  }
  await settle(5_000);
  expect(sink.frames).toHaveLength(2);
  expect(shown(other)).toBe(text);
  sink.drain();
  await settle();

  expect(sink.frames.length).toBeLessThan(6);
  expect(sink.snapshots).toBe(1);
  expect(shown(sink)).toBe(text);
});

test("a sink that is full time and again is told every fact once, in order", async () => {
  for (const every of [1, 2, 5]) {
    const { scene, settle, show } = await stage({ keptMessages: 4 });
    const sink = new Basin();
    void show(sink);
    await settle();
    const texts: string[] = [];
    for (let reply = 0; reply < 12; reply += 1) {
      sink.full = true;
      const speaker = await scene.start();
      for (let batch = 0; batch < 6; batch += 1) await speaker.write(`${reply}.${batch} `);
      await speaker.commit();
      await scene.say();
      texts.push([0, 1, 2, 3, 4, 5].map((batch) => `${reply}.${batch} `).join(""));
      await settle();
      if (reply % every === 0) sink.drain();
      await settle();
    }
    sink.drain();
    await settle();

    expect(sink.snapshots).toBe(1);
    expect(sink.state && itemTexts(sink.state)).toEqual(texts);
    expect(sink.state?.head).toBe(await scene.truth.head(scene.uid));
  }
});

test("a heartbeat is a comment with the head, has no id, and comes when the head was read", async () => {
  const { scene, settle, show } = await stage();
  const sink = new Basin();
  const full = new Basin();
  void show(sink);
  void show(full);
  await settle();
  full.full = true;
  await scene.say();
  await settle();
  const { cursor } = sink;
  scene.deaf = true;
  await scene.say();
  await settle(5_000);
  const head = await scene.truth.head(scene.uid);

  expect(sink.comments).toEqual([`: ${head}\n\n`]);
  // The facts that it speaks of have gone before.
  expect(Buffer.from(sink.frames.at(-1)?.plain ?? []).toString()).toBe(`: ${head}\n\n`);
  expect(full.comments).toEqual([]);
  expect(sink.cursor?.head).toBe((cursor?.head ?? NaN) + 1);
  expect(sink.calls).toEqual(["bind", "open", "write"]);
  await settle(10_000);
  expect(sink.comments).toHaveLength(3);
  expect(sink.cursor?.head).toBe(head);
});

test("a sink that throws ends its own delivery and no other", async () => {
  const { scene, hub, settle, show } = await stage({ lingerMs: 0 });
  const sinks = [new Basin(), new Basin(), new Basin()] as const;
  const outcomes = sinks.map((sink) => show(sink));
  await settle();
  const fault = new Error("a broken sink");
  sinks[0].fault = fault;
  sinks[1].leave();
  const speaker = await scene.start();
  await speaker.write("still here");
  await settle();

  expect(await Promise.all(outcomes.slice(0, 2))).toEqual([fault, "ended"]);
  expect(sinks.map(({ calls }) => calls.at(-1))).toEqual(["end", "write", "write"]);
  expect(sinks.map(shown)).toEqual([undefined, undefined, "still here"]);
  sinks[2].leave();
  await settle();
  expect(await outcomes[2]).toBe("ended");
  expect(hub.sessions()).toBe(0);
});

test("a session that is not there rejects, and its sink is not opened", async () => {
  const { hub } = await stage();
  const sink = new Basin();

  await expect(
    hub.deliver({ uid: sessionUid("nobody"), sessionId: name }, sink),
  ).rejects.toMatchObject({ code: "unknown_session" });
  expect(sink.calls).toEqual(["bind"]);
});

test("a subscription that breaks ends no sink, and all are told what they missed by one read", async () => {
  const { scene, settle, show } = await stage();
  const sinks = Array.from({ length: 50 }, () => new Basin());
  for (const sink of sinks) void show(sink);
  const speaker = await scene.start();
  await speaker.write("before, ");
  await settle();
  scene.deaf = true;
  await speaker.write("lost, ");
  scene.deaf = false;
  const { reads, laneReads } = scene.counts;
  scene.breakTails();
  await scene.clock.advance(100);
  await speaker.write("after");
  await settle();

  expect(new Set(sinks.map(shown))).toEqual(new Set(["before, lost, after"]));
  expect(sinks.every(({ snapshots }) => snapshots === 1)).toBe(true);
  expect(sinks.every(({ calls }) => calls.at(-1) === "write")).toBe(true);
  expect([scene.counts.reads - reads, scene.counts.laneReads - laneReads]).toEqual([1, 1]);
});

test("the signal and the hub end a delivery and its sink", async () => {
  const { hub, settle, show } = await stage();
  const leave = new AbortController();
  const sinks = [new Basin(), new Basin(), new Basin(), new Basin()] as const;
  const outcomes = [show(sinks[0], leave.signal), show(sinks[1])];
  await settle();
  leave.abort();
  outcomes.push(show(sinks[2], leave.signal));
  await settle();
  expect(sinks.map(({ calls }) => calls.at(-1))).toEqual(["end", "write", undefined, undefined]);
  hub[Symbol.dispose]();
  outcomes.push(show(sinks[3]));
  await settle();

  expect(sinks.map(({ calls }) => calls.at(-1))).toEqual(["end", "end", undefined, undefined]);
  expect(await Promise.all(outcomes)).toEqual(["ended", "ended", "ended", "ended"]);
});

test("a run's end is told once, and nothing of that run follows it", async () => {
  const { scene, settle, show } = await stage();
  const sink = new Basin();
  void show(sink);
  const zombie = await scene.start();
  await zombie.write("late");
  await scene.finish();
  await settle();
  const { messages } = sink;
  expect(sink.state?.ended).toMatchObject({ outcome: "completed" });
  await zombie.write(", later");
  await settle(5_000);

  expect(sink.messages).toBe(messages);
  expect(sink.state?.lanes).toEqual([]);
});

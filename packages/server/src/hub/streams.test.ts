import { inputId } from "@millrace/core/writing";
import type { StreamEndReason } from "@millrace/core/wire";
import { expect, test } from "vitest";
import { openRun, openStreamFixture } from "../testing/stream-fixture.ts";

const texts = (frames: readonly Uint8Array[]): string[] =>
  frames.map((frame) => Buffer.from(frame).toString());

test("the first bytes are the time to come back and the head", async () => {
  const { session, settle, open } = await openStreamFixture();
  const { sink } = open();
  await settle();
  const head = await session.truth.head(session.uid);

  expect(texts(sink.frames)[0]).toBe(`retry: 250\n: ${head}\n\n`);
});

test("times to come back are spread over half a second, or over a millisecond for each stream of a crowd", async () => {
  let draws = 0;
  const random = (): number => {
    draws += 1;
    return (draws % 100) / 100;
  };
  const { settle, open } = await openStreamFixture({ random });
  const few = Array.from({ length: 200 }, () => open());
  await settle(200);
  const crowd = Array.from({ length: 900 }, () => open());
  await settle(200);

  const first = few.map(({ sink }) => sink.reader.retries[0] ?? NaN);
  expect(Math.max(...first)).toBeLessThanOrEqual(500);
  expect(new Set(first).size).toBeGreaterThan(40);
  const last = crowd.map(({ sink }) => sink.reader.retries[0] ?? NaN);
  expect(Math.max(...last)).toBeGreaterThan(900);
  expect(Math.max(...last)).toBeLessThanOrEqual(1_100);
  await settle(1_000);
  // The crowd has doubled since: those that came first are sent another time.
  expect(few.every(({ sink }) => sink.reader.retries.length === 2)).toBe(true);
  expect(crowd.every(({ sink }) => sink.reader.retries.length === 1)).toBe(true);
  await settle(5_000);
  expect(few.every(({ sink }) => sink.reader.retries.length === 2)).toBe(true);
});

test("while the store is away a stream stays open, and its heartbeats have no head", async () => {
  const { session, settle, open } = await openStreamFixture();
  const { sink } = open();
  await settle();
  await settle(15_000);
  const head = await session.truth.head(session.uid);
  session.storeAway = true;
  await settle(30_000);
  session.storeAway = false;
  await settle(15_000);

  expect(sink.comments).toEqual([`: ${head}\n\n`, ": \n\n", ": \n\n", `: ${head}\n\n`]);
  expect(sink.calls.at(-1)).toBe("write");
});

test("a store that neither answers nor fails stops no heartbeat, and none of them has its head", async () => {
  const { session, settle, open } = await openStreamFixture();
  const { sink } = open();
  await settle();
  Object.assign(session.store, { heads: () => new Promise(() => undefined) });
  await settle(45_000);

  expect(sink.comments.slice(1)).toEqual([": \n\n", ": \n\n"]);
});

test.each<StreamEndReason>(["revoked", "expired", "removed", "drain"])(
  "a signal that is aborted with %s ends the stream with it, without an id",
  async (reason) => {
    const { settle, open } = await openStreamFixture();
    const control = new AbortController();
    const { sink, ended } = open({ signal: control.signal });
    await settle();
    const { cursor } = sink;
    control.abort(reason);

    expect(await ended).toEqual({ reason });
    expect(sink.reader.ends).toEqual([{ v: 1, type: "stream_ended", reason }]);
    expect(texts(sink.frames).at(-1)).not.toContain("id:");
    expect([sink.calls.at(-1), sink.cursor]).toEqual(["end", cursor]);
  },
);

test("a signal that is aborted for another reason ends the stream, and nothing is told", async () => {
  const { settle, open } = await openStreamFixture();
  const control = new AbortController();
  const { sink, ended } = open({ signal: control.signal });
  await settle();
  control.abort();

  expect(await ended).toEqual({ reason: undefined });
  expect([sink.calls.at(-1), sink.reader.ends]).toEqual(["end", []]);
});

test("a stream is recycled after its time, with a short time to come back", async () => {
  const { settle, open, hub } = await openStreamFixture({ maxMs: 55_000, random: () => 0.9999 });
  const { sink, ended } = open();
  await settle();
  await settle(60_000);
  expect(sink.reader.ends).toEqual([]);
  await settle(1_000);

  expect(await ended).toEqual({ reason: "recycled" });
  expect(sink.reader.retries.at(-1)).toBe(200);
  expect(hub.streams()).toBe(0);
});

test("without a setting a stream lives for 30 minutes, give or take a fifth", async () => {
  for (const [draw, minutes] of [
    [0, 24],
    [0.9999, 36],
  ] as const) {
    const { settle, open } = await openStreamFixture({ random: () => draw, heartbeatMs: 600_000 });
    const { sink } = open();
    await settle();
    await settle((minutes * 60 - 3) * 1_000);
    expect(sink.reader.ends).toEqual([]);
    await settle(5_000);
    expect(sink.reader.reason).toBe("recycled");
  }
});

test("a stream whose sink stays full ends as slow once it lacks 512 messages or 256 KiB, not before, and alone", async () => {
  for (const [chunk, fits] of [
    ["x", 490],
    ["y".repeat(10_000), 24],
  ] as const) {
    const { session, settle, open } = await openStreamFixture();
    const { sink, ended } = open();
    const other = open();
    const writer = await session.start();
    await writer.write("begun");
    await settle();
    sink.full = true;
    await writer.write("fills the sink");
    await settle();
    for (let batch = 0; batch < fits; batch += 1) await writer.write(chunk);
    await settle();
    expect(sink.reader.ends).toEqual([]);
    for (let batch = 0; batch < fits * 0.1; batch += 1) await writer.write(chunk);
    await settle();

    expect(await ended).toEqual({ reason: "slow" });
    expect(sink.reader.reason).toBe("slow");
    expect(other.sink.reader.ends).toEqual([]);
  }
});

test("a session that is removed ends its streams", async () => {
  const { session, settle, open, hub } = await openStreamFixture();
  const { sink, ended } = open();
  await settle();
  await session.truth.remove(session.uid);
  await settle(5_000);

  expect(await ended).toMatchObject({ reason: "removed" });
  expect([sink.reader.reason, hub.sessions()]).toEqual(["removed", 0]);
});

test("a stream of one run ends with the fact that ends the run, and no message follows it", async () => {
  const { session, settle, open } = await openStreamFixture();
  const head = await session.truth.head(session.uid);
  const { sink, ended } = open({ until: { runId: openRun, n: head } });
  const all = open();
  const writer = await session.start();
  await writer.write("the answer");
  await settle();
  expect(sink.reader.ends).toEqual([]);
  await session.finish();
  await session.acceptInput();
  await settle();

  expect(await ended).toEqual({ reason: "finished" });
  expect(sink.state?.ended).toMatchObject({ outcome: "completed" });
  expect(all.sink.cursor?.head).toBe((sink.cursor?.head ?? NaN) + 1);
});

test("a stream of a run that is over, or that will never be, ends when its reader has what there is", async () => {
  const { session, settle, open } = await openStreamFixture();
  await session.finish();
  await session.acceptInput();
  const head = await session.truth.head(session.uid);
  const over = open({ until: { runId: openRun } });
  const waiting = open({
    until: { runId: openRun, inputId: inputId("input_1"), n: head },
  });
  const unknown = open({ until: { runId: openRun, n: head + 1 } });
  await settle();

  expect(await over.ended).toEqual({ reason: "finished" });
  expect(over.sink.state?.head).toBe(head);
  expect([waiting.sink.reader.ends, unknown.sink.reader.ends]).toEqual([[], []]);
  await session.acceptInput();
  await settle();
  expect(await unknown.ended).toEqual({ reason: "finished" });
});

test("a drain ends streams spread over half of its time, and later ones at once", async () => {
  let draws = 0;
  const random = (): number => {
    draws += 1;
    return (draws % 97) / 97;
  };
  const { settle, open, hub } = await openStreamFixture({ random });
  const streams = Array.from({ length: 100 }, () => open());
  await settle(200);
  let done = false;
  const draining = async (): Promise<void> => {
    await hub.drain({ drainMs: 20_000 });
    done = true;
  };
  void draining();
  const late = open();
  await settle(2_500);
  const ended = (): number => streams.filter(({ sink }) => sink.reader.reason === "drain").length;
  expect([ended() > 15, ended() < 35, done]).toEqual([true, true, false]);
  await settle(8_000);

  expect([ended(), done, hub.streams()]).toEqual([100, true, 0]);
  expect(await late.ended).toEqual({ reason: "drain" });
  expect(late.sink.calls).toEqual(["bind", "open", "write", "end"]);
  const retries = [...streams, late].map(({ sink }) => sink.reader.retries.at(-1) ?? NaN);
  expect(Math.max(...retries)).toBeLessThanOrEqual(2_000);
  expect(new Set(retries).size).toBeGreaterThan(20);
});

test("a hub without a stream has no timer", async () => {
  const { session, settle, open } = await openStreamFixture({ lingerMs: 0 });
  const { sink } = open();
  await settle();
  expect(session.clock.sleepers()).toBeGreaterThan(0);
  sink.leave();
  await settle();
  await settle();

  expect(session.clock.sleepers()).toBe(0);
});

import { sessionId, sessionUid } from "@millrace/core/writing";
import { manualClock } from "@millrace/core/testing";
import { expect, test } from "vitest";
import type { TemporalDriverEvent } from "./options.ts";
import { Wakes } from "./wakes.ts";
import type { Wake } from "./wakes.ts";

const refused = new Error("refused for good");

/** A Temporal whose answers a test gives one by one, and the wakes that are sent to it. */
function openFixture() {
  const clock = manualClock();
  const sent: { readonly wake: Wake; readonly settle: (error?: Error) => Promise<void> }[] = [];
  const events: TemporalDriverEvent[] = [];
  const send = (wake: Wake): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const settle = async (error?: Error): Promise<void> => {
      if (error === undefined) resolve();
      else reject(error);
      await clock.advance(0);
    };
    sent.push({ wake, settle });
    return promise;
  };
  const wakes = new Wakes({
    send,
    isRefusal: (error) => error === refused,
    report: (event) => void events.push(event),
    clock,
    random: () => 0.5,
  });
  return { clock, sent, events, wakes };
}

function wakeOf(name: string, head: number): Wake {
  return { uid: sessionUid(name), sessionId: sessionId(name), head };
}

/** What was sent, as `name:head`. */
function heads(sent: readonly { readonly wake: Wake }[]): readonly string[] {
  return sent.map(({ wake }) => `${wake.sessionId}:${wake.head}`);
}

test("wakes that come while one of their session is sent become one more, with the highest head", async () => {
  const { sent, wakes } = openFixture();
  for (const head of [1, 3, 4, 2]) wakes.add(wakeOf("a", head));
  wakes.add(wakeOf("b", 7));

  expect(heads(sent)).toEqual(["a:1", "b:7"]);
  await sent[0]?.settle();

  expect(heads(sent)).toEqual(["a:1", "b:7", "a:4"]);
});

test("a head that Temporal has is not sent again, nor one below it", async () => {
  const { sent, wakes } = openFixture();
  wakes.add(wakeOf("a", 4));
  await sent[0]?.settle();
  for (const head of [3, 4, 5]) wakes.add(wakeOf("a", head));

  expect(heads(sent)).toEqual(["a:4", "a:5"]);
});

test("at most 64 are on their way, and the others follow in their order", async () => {
  const { sent, wakes } = openFixture();
  for (let n = 0; n < 70; n += 1) wakes.add(wakeOf(`s${n}`, 1));

  expect(sent).toHaveLength(64);
  await sent[5]?.settle();

  expect(heads(sent).slice(64)).toEqual(["s64:1"]);
});

test("while Temporal is away one try is made at a time, and all is sent when it is back", async () => {
  const { clock, sent, events, wakes } = openFixture();
  for (const name of ["a", "b", "c"]) wakes.add(wakeOf(name, 1));
  for (const each of sent) await each.settle(new Error("no connection"));
  wakes.add(wakeOf("b", 2));
  expect(sent).toHaveLength(3);

  await clock.advance(100);
  expect(sent).toHaveLength(4);
  await sent[3]?.settle(new Error("no connection"));
  await clock.advance(200);
  expect(sent).toHaveLength(5);
  expect(events.map(({ type }) => type)).toEqual(["temporal_away"]);
  await sent[4]?.settle();

  expect(events.map(({ type }) => type)).toEqual(["temporal_away", "temporal_back"]);
  for (const each of sent.slice(5)) await each.settle();
  expect(heads(sent.slice(4)).toSorted()).toEqual(["a:1", "b:2", "c:1"]);
});

test("each outage is reported once, and pauses grow to two seconds", async () => {
  const { clock, sent, events, wakes } = openFixture();
  wakes.add(wakeOf("a", 1));
  for (let tries = 1; tries <= 20; tries += 1) {
    await sent.at(-1)?.settle(new Error("no connection"));
    await clock.advance(2_000);
    expect(sent).toHaveLength(tries + 1);
  }
  await sent.at(-1)?.settle();
  wakes.add(wakeOf("a", 2));
  await sent.at(-1)?.settle(new Error("no connection"));

  expect(events.map(({ type }) => type)).toEqual([
    "temporal_away",
    "temporal_back",
    "temporal_away",
  ]);
});

test("a wake that Temporal refuses for good is reported, and holds up no other", async () => {
  const { clock, sent, events, wakes } = openFixture();
  wakes.add(wakeOf("a", 1));
  await sent[0]?.settle(refused);
  wakes.add(wakeOf("a", 1));
  wakes.add(wakeOf("b", 1));
  await clock.advance(10_000);

  expect(heads(sent)).toEqual(["a:1", "b:1"]);
  expect(events).toMatchObject([{ type: "wake_refused", sessionId: "a", error: refused }]);
});

test("close sends what waits, and ends without it while Temporal is away", async () => {
  const up = openFixture();
  up.wakes.add(wakeOf("a", 1));
  up.wakes.add(wakeOf("a", 2));
  let isClosed = false;
  const closed = up.wakes.close().then(() => (isClosed = true));
  up.wakes.add(wakeOf("late", 1));
  await up.sent[0]?.settle();
  expect(isClosed).toBe(false);
  await up.sent[1]?.settle();
  await closed;
  expect(heads(up.sent)).toEqual(["a:1", "a:2"]);
  expect(up.clock.sleepers()).toBe(0);

  const down = openFixture();
  down.wakes.add(wakeOf("a", 1));
  await down.sent[0]?.settle(new Error("no connection"));
  await down.wakes.close();
  expect(heads(down.sent)).toEqual(["a:1"]);
});

test("close waits five seconds for an answer that does not come", async () => {
  const { clock, wakes } = openFixture();
  wakes.add(wakeOf("a", 1));
  let isClosed = false;
  const closed = wakes.close().then(() => (isClosed = true));
  await clock.advance(4_999);
  expect(isClosed).toBe(false);
  await clock.advance(1);
  await closed;
});

test("of more than 10,000 sessions that wait the oldest are left to the sweep", async () => {
  const { sent, wakes } = openFixture();
  for (let n = 0; n < 10_064 + 2; n += 1) wakes.add(wakeOf(`s${n}`, 1));
  await sent[0]?.settle();

  expect(heads(sent).at(-1)).toBe("s66:1");
});

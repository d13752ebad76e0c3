import { apply, restore, snapshot } from "@millrace/core/reading";
import { decodeCursor, decodeMessage } from "@millrace/core/wire";
import type { SessionState } from "@millrace/core";
import { expect, test } from "vitest";
import { name } from "../testing/session-fixture.ts";
import { openStreamFixture } from "../testing/stream-fixture.ts";
import type { Collected } from "./collect.ts";

/** What a reader of the JSON form holds after it has applied an answer. */
function applied(
  state: SessionState | undefined,
  { messages }: Collected,
): SessionState | undefined {
  let current = state;
  for (const { message } of messages) {
    const decoded = decodeMessage(JSON.stringify(message));
    if (!decoded.ok) throw new TypeError(decoded.fault.message);
    if ("closedLanes" in decoded.value) current = restore(decoded.value);
    else if (current !== undefined) {
      const next = apply(current, decoded.value);
      if (next.verdict !== "applied") throw new TypeError(next.verdict);
      current = next.state;
    }
  }
  return current;
}

test("a reader that asks again and again holds after each answer what a stream holds", async () => {
  const { session, hub, settle, open } = await openStreamFixture({ keptMessages: 8 });
  const { uid } = session;
  const { sink } = open({ form: "whole" }); // steps of text carry no time
  let state: SessionState | undefined;
  let cursor: string | undefined;
  const ask = async (): Promise<Collected> => {
    const from = cursor === undefined ? undefined : decodeCursor(cursor);
    const asked = hub.collect({ uid, sessionId: name, cursor: from });
    await settle(100);
    const answer = await asked;
    state = applied(state, answer);
    ({ cursor } = answer);
    return answer;
  };
  for (let reply = 0; reply < 6; reply += 1) {
    const writer = await session.start();
    for (let batch = 0; batch < 3 * reply; batch += 1) {
      await writer.write(`${batch} `);
      if (batch % 4 === 0) await ask();
    }
    while ((await ask()).messages.length > 0);
    expect(state && snapshot(state)).toEqual(sink.state && snapshot(sink.state));
    await writer.commit();
    await session.acceptInput();
    while ((await ask()).messages.length > 0);
    expect(state && snapshot(state)).toEqual(sink.state && snapshot(sink.state));
  }

  expect(await ask()).toEqual({ messages: [], cursor, ended: undefined });
});

test("an answer comes with the first message, or empty after the wait", async () => {
  const { session, hub, settle, open } = await openStreamFixture();
  const { uid } = session;
  const { sink } = open();
  await settle();
  const from = { uid, sessionId: name, cursor: sink.cursor };
  let answer: Collected | undefined;
  const ask = async (): Promise<void> => {
    answer = undefined;
    answer = await hub.collect({ ...from, waitMs: 25_000 });
  };
  void ask();
  await settle(20_000);
  expect(answer).toBeUndefined();
  await session.acceptInput();
  await settle();
  expect(answer?.messages).toMatchObject([{ message: { type: "input_accepted" } }]);
  from.cursor = sink.cursor;
  void ask();
  await settle(24_990);
  expect(answer).toBeUndefined();
  await settle(20);
  expect(answer).toMatchObject({ messages: [] });
});

test("an answer ends within its bytes but for a message that is larger, and the next one goes on", async () => {
  const { session, hub, settle, open } = await openStreamFixture();
  const { uid } = session;
  const { sink } = open();
  await settle();
  const { cursor } = sink;
  for (let input = 0; input < 10; input += 1) await session.acceptInput();
  await settle();
  const one = await hub.collect({ uid, sessionId: name, cursor, maxBytes: 1 });
  const some = await hub.collect({
    uid,
    sessionId: name,
    cursor: decodeCursor(one.cursor ?? ""),
    maxBytes: 450,
  });
  const rest = await hub.collect({ uid, sessionId: name, cursor: decodeCursor(some.cursor ?? "") });

  expect([one.messages.length, some.messages.length + rest.messages.length]).toEqual([1, 9]);
  expect(some.messages.length).toBeGreaterThan(1);
  expect(rest.messages.length).toBeGreaterThan(1);
});

test("a drain and an abort answer what is waited for, and a removed session is told", async () => {
  const { session, hub, settle, open } = await openStreamFixture();
  const { uid } = session;
  const { sink } = open();
  await settle();
  const from = { uid, sessionId: name, cursor: sink.cursor, waitMs: 60_000 };
  const control = new AbortController();
  const left = hub.collect({ ...from, signal: control.signal });
  control.abort();
  expect(await left).toMatchObject({ messages: [] });
  const removed = hub.collect(from);
  await session.truth.remove(uid);
  await settle(5_000);
  expect(await removed).toMatchObject({ messages: [], ended: "removed" });
  const other = await openStreamFixture();
  const first = other.open();
  await other.settle();
  const waiting = other.hub.collect({
    uid: other.session.uid,
    sessionId: name,
    cursor: first.sink.cursor,
    waitMs: 60_000,
  });
  void other.hub.drain({ drainMs: 0 });
  await other.settle();
  expect(await waiting).toMatchObject({ messages: [] });
});

test("a session that does not exist rejects", async () => {
  const { session, hub, settle } = await openStreamFixture();
  await session.truth.remove(session.uid);
  const asked = hub.collect({ uid: session.uid, sessionId: name }).catch((error: unknown) => error);
  await settle(100);

  expect(await asked).toMatchObject({ code: "unknown_session" });
});

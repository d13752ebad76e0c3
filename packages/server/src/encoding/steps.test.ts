import { sessionUid } from "@millrace/core/writing";
import type { Followed } from "@millrace/core/reading";
import { expect, test } from "vitest";
import { LastSteps } from "./steps.ts";

const uid = sessionUid("uid");

function messageOf(head: number): Followed {
  const message = {
    v: 1,
    n: head,
    time: 0,
    type: "turn_started",
  } as unknown as Followed["message"];
  return { message, cursor: { uid, head, lanes: [] } };
}

/** So many steps, each named by the number of its message. */
function pushed(count: number): { readonly last: LastSteps; readonly messages: Followed[] } {
  const last = new LastSteps();
  const messages = Array.from({ length: count }, (_, at) => messageOf(at));
  for (const [at, message] of messages.entries()) last.push(message, String(at));
  return { last, messages };
}

test("messages that follow each other have their steps, at the end and before it", () => {
  const { last, messages } = pushed(700);
  expect(last.of(messages.slice(-3))).toEqual(["697", "698", "699"]);
  expect(last.of(messages.slice(188, 191))).toEqual(["188", "189", "190"]);
  expect(last.of(messages.slice(511, 514))).toEqual(["511", "512", "513"]);
});

test("messages that do not follow each other have their own steps", () => {
  const { last, messages } = pushed(20);
  const chosen = [messages[4], messages[9], messages[2]] as Followed[];
  expect(last.of(chosen)).toEqual(["4", "9", "2"]);
});

test("a message without a step, and one whose step is no longer held, leave all without", () => {
  const { last, messages } = pushed(513);
  expect(last.of([...messages.slice(-1), messageOf(513)])).toBeUndefined();
  expect(last.of(messages.slice(0, 2))).toBeUndefined();
  expect(last.of(messages.slice(1, 3))).toEqual(["1", "2"]);
  expect(last.of([])).toEqual([]);
});

test("long steps are held as far as there is room for their text, and the last one always", () => {
  const last = new LastSteps();
  const messages = Array.from({ length: 20 }, (_, at) => messageOf(at));
  const long = "x".repeat(16 * 1_024);
  for (const message of messages) last.push(message, long);
  expect(last.of(messages.slice(11, 12))).toBeUndefined();
  expect(last.of(messages.slice(12))).toEqual(Array.from({ length: 8 }, () => long));
  const longest = "x".repeat(1_024 * 1_024);
  last.push(messageOf(20), "short");
  const message = messageOf(21);
  last.push(message, longest);
  expect(last.of([message])).toEqual([longest]);
  expect(last.of(messages.slice(-1))).toBeUndefined();
});

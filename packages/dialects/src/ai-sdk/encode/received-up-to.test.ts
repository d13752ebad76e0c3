import { expect, test } from "vitest";
import { receivedUpTo } from "./received-up-to.ts";

const first = { toolCallId: "call_1", state: "output-available" };

test("a page that holds all questions and results of a wait goes on after it", () => {
  const waits = [
    { n: 5, asked: ["approval_1"], settled: [] },
    { n: 9, asked: ["approval_2"], settled: ["call_1"] },
  ];
  const asked = {
    toolCallId: "call_2",
    state: "approval-requested",
    approval: { id: "approval_2" },
  };

  expect(receivedUpTo(waits, [first, asked])).toBe(9);
  expect(receivedUpTo(waits, [{ ...first, approval: { id: "approval_1" } }])).toBe(5);
  expect(receivedUpTo(waits, [first])).toBe(0);
});

test("a call whose id came before is held by itself alone", () => {
  const again = { toolCallId: "call_1~2", state: "input-available" };
  const result = [{ n: 9, asked: ["approval_1"], settled: ["call_1", "call_1"] }];
  const question = { type: "data-approval", id: "approval_1" };
  expect(receivedUpTo(result, [first, question, again])).toBe(0);
  expect(receivedUpTo(result, [first, question, { ...again, state: "output-available" }])).toBe(9);

  const call = [{ n: 9, asked: ["call_1"], settled: ["call_1"] }];
  expect(receivedUpTo(call, [first])).toBe(0);
  expect(receivedUpTo(call, [first, again])).toBe(9);
});

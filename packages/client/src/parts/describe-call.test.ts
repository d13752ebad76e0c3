import { callId, partId } from "@millrace/core/writing";
import { expect, it } from "vitest";
import { describeCall, progressOf } from "./describe-call.ts";
import type { ToolCardPart } from "./describe-call.ts";

const base = {
  kind: "tool_call",
  id: partId("p"),
  live: false,
  callId: callId("c"),
  tool: "weather",
  raw: '{"city":"Oslo"}',
} as const;
const input = { city: "Oslo" };

it("a call is described by its arguments, then its progress, then what it came to", () => {
  const states: readonly [ToolCardPart, string][] = [
    [{ ...base, input: undefined, raw: '{"city":"Os', state: "writing" }, '{"city":"Os'],
    [{ ...base, input, state: "waiting" }, '{"city":"Oslo"}'],
    [{ ...base, input, state: "running", text: "" }, '{"city":"Oslo"}'],
    [{ ...base, input, state: "running", text: "", message: "asking" }, "asking"],
    [{ ...base, input, state: "finished", text: "", output: { celsius: 4 } }, '{"celsius":4}'],
    [{ ...base, input, state: "finished", text: "", output: "one\ntwo" }, "one two"],
    [{ ...base, input, state: "failed", message: "failed: timed\u202e out" }, "timed⟨U+202E⟩ out"],
    [{ ...base, input, state: "denied", reason: "not today" }, "not today"],
    [{ ...base, input, state: "unknown", message: "lost" }, "lost"],
  ];
  for (const [part, line] of states) expect(describeCall(part)).toBe(line);
});

it("a line is cut, however long the text is", () => {
  const part: ToolCardPart = { ...base, input, state: "failed", message: "x".repeat(1e6) };
  expect(describeCall(part)).toBe(`${"x".repeat(240)}…`);
});

it("progress is read from percents and counts, and from nothing else", () => {
  expect(progressOf("62 % done")).toBe(0.62);
  expect(progressOf("scanning · 6,204 of 10,000 lines")).toBe(0.6204);
  expect(progressOf("step 3/8")).toBe(0.375);
  expect(progressOf("250 %")).toBe(1);
  expect(progressOf("1 of 0")).toBeUndefined();
  expect(progressOf("asking about Oslo")).toBeUndefined();
  expect(progressOf(undefined)).toBeUndefined();
});

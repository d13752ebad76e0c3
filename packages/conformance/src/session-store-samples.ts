import { approvalId, callId, inputId, itemId, partId, sessionId } from "@millrace/core/writing";
import type { Json, JsonObject, Part } from "@millrace/core";
import type { FactBody } from "@millrace/core/writing";
import { epochOf, run, turn } from "./session-store-bodies.ts";

/** Texts that engines are known to change. */
export const oddTexts: readonly string[] = [
  "",
  "\u0000",
  "a\u0000b",
  "\r\n\t\b\u001b[31m",
  "\u2028\u2029\uFEFF",
  "é e\u0301",
  "👩‍👩‍👧‍👦 🇩🇪 \u{10ffff}",
  "\"'\\`${x} %s ; --",
  "toString",
  "constructor",
  " ",
];

function deep(levels: number): Json {
  let value: Json = "bottom";
  for (let level = 0; level < levels; level += 1) value = level % 2 > 0 ? [value] : { in: value };
  return value;
}

export const values: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e-7,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  1.7976931348623157e308,
  5e-324,
  [],
  {},
  [[], {}, [null]],
  { "": "", " ": 0, "a.b": 1, "\u0000": 2, "👩‍👧": 3, "1": 4, toString: 5 },
  deep(60),
  [...oddTexts],
];

const id = partId("part_1");
export const metadata: JsonObject = { a: [1, { b: null }], "\u0000": "👩‍👧" };
const call = callId("call_1");
const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);

/** At least one part of each kind, with every field. */
export const parts: readonly Part[] = [
  { kind: "text", id, text: "plain" },
  { kind: "text", id, text: "with metadata", metadata },
  { kind: "reasoning", id, text: "thinking", opaque: { signature: "c2ln", nested: [1, null] } },
  { kind: "tool_call", id, callId: call, tool: "search", raw: '{ "q": 1.0 }', input: { q: 1 } },
  { kind: "tool_call", id, callId: call, tool: "x", raw: '{"q":', fault: { code: "truncated" } },
  { kind: "tool_call", id, callId: call, tool: "x", raw: "{}", input: {}, opaque: "signed" },
  { kind: "tool_result", id, callId: call, tool: "x", status: "ok", text: "out", output: [1] },
  {
    kind: "tool_result",
    id,
    callId: call,
    tool: "x",
    status: "unknown",
    text: "",
    synthetic: true,
  },
  { kind: "media", id, mediaType: "image/png", bytes },
  { kind: "media", id, mediaType: "image/png", bytes: new Uint8Array(0) },
  { kind: "media", id, mediaType: "image/png", url: "https://example.org/a?b=c#d" },
  { kind: "file", id, name: "../a b.txt", mediaType: "text/plain", bytes },
  { kind: "file", id, name: "a", mediaType: "text/plain", url: "https://example.org", metadata },
  { kind: "structured", id, value: { answer: 42, why: [null] } },
  { kind: "custom", id, name: "citation", value: { page: 3 } },
  { kind: "opaque", id, original: { kind: "hologram", id: "part_1", depth: [1, 2, 3] } },
];

const epoch = epochOf(1);
const usage = { inputTokens: 1, outputTokens: 2, cachedTokens: 0 };
/** At least one fact of each type that a driver writes. */
export const everyFact: readonly FactBody[] = [
  { type: "run_started", runId: run },
  { type: "turn_started", runId: run, turnId: turn },
  {
    type: "item_committed",
    item: { id: itemId("item_a"), author: "model", parts, stop: "end" },
    inputId: inputId("input_1"),
  },
  {
    type: "item_replaced",
    item: { id: itemId("item_b"), author: "agent", parts: [], stop: "end" },
    runId: run,
    turnId: turn,
  },
  {
    type: "approval_requested",
    runId: run,
    turnId: turn,
    approvalId: approvalId("approval_1"),
    callId: call,
    tool: "delete_file",
    input: { path: "/a", deep: deep(20) },
    hash: "sha256:0",
  },
  {
    type: "tool_execution_started",
    runId: run,
    turnId: turn,
    callId: call,
    tool: "search",
    input: {},
    itemId: itemId("item_of_call"),
    lane: 1,
    epoch,
    childSessionId: sessionId("sub_parent_item_of_call"),
  },
  {
    type: "tool_execution_finished",
    runId: run,
    turnId: turn,
    callId: call,
    tool: "search",
    status: "denied",
  },
  { type: "compaction_started", runId: run },
  { type: "compaction_finished", runId: run },
  {
    type: "compaction_finished",
    runId: run,
    summary: { itemId: itemId("c"), first: itemId("a"), last: itemId("b") },
  },
  { type: "usage_reported", runId: run, turnId: turn, epoch, usage: { ...usage, cost: 1e-9 } },
  { type: "guidance_set", runId: run, turnId: turn, guidance: { instructions: null, values } },
  {
    type: "reasoning_dropped",
    runId: run,
    scope: "https://a.example org",
    through: itemId("b"),
    reason: "refused",
  },
  { type: "part_left_out", runId: run, itemId: itemId("b"), partId: partId("p"), text: "" },
  { type: "prefix_broken", runId: run, reason: "tools have changed" },
  { type: "notice", runId: run, code: "cache_missed", message: "" },
  { type: "opaque", original: { type: "from_tomorrow", values } },
  { type: "turn_finished", runId: run, turnId: turn, stop: "tools", closes: epoch },
  {
    type: "run_finished",
    runId: run,
    closes: epochOf(200_000, 4_095),
    outcome: "failed",
    cause: { code: "overloaded", message: "try again" },
  },
];

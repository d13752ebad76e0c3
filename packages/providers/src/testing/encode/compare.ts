import type { Part, Usage } from "@millrace/core";
import type { Decoded } from "../decode.ts";
import type { LogicalCall, LogicalPart, LogicalReply } from "../replies.ts";
import type { Preserved } from "./encoded.ts";

/** The first difference between the encoded and the decoded reply, or undefined. */
export function difference(
  reply: LogicalReply,
  preserved: Preserved,
  decoded: Decoded,
): string | undefined {
  const { draft, end } = decoded;
  if (draft.fault !== undefined) return `fault of the fold: ${draft.fault.code}`;
  if (end.stop !== reply.stop) {
    return `stop: ${reply.stop} became ${end.stop} ${end.cause?.code ?? ""} ${end.cause?.message ?? ""}`;
  }
  const parts: Part[] = [];
  for (const part of draft.parts) {
    if (part.state === "open") return `part ${part.id} stays open`;
    parts.push(part.part);
  }
  const content = preserved.order ? partsDifference : sumDifference;
  return (
    usageDifference(reply, preserved, end.usage) ??
    content(reply, preserved, parts) ??
    idsDifference(parts)
  );
}

function usageDifference(
  { usage }: LogicalReply,
  preserved: Preserved,
  found: Usage | undefined,
): string | undefined {
  if (found === undefined) return "usage: lost";
  const expected = {
    ...usage,
    cacheWriteTokens: preserved.cacheWriteTokens ? usage.cacheWriteTokens : 0,
    reasoningTokens: preserved.reasoningTokens ? usage.reasoningTokens : 0,
  };
  for (const [name, count] of Object.entries(expected)) {
    const other = found[name as keyof Usage] ?? 0;
    if (other !== count) return `usage: ${name} ${count} became ${other}`;
  }
  return undefined;
}

function partsDifference(
  { parts: expected, stop }: LogicalReply,
  preserved: Preserved,
  found: readonly Part[],
): string | undefined {
  if (found.length !== expected.length) {
    const kinds = (rows: readonly { readonly kind: string }[]): string =>
      rows.map(({ kind }) => kind).join(" ");
    return `parts: ${kinds(expected)} became ${kinds(found)}`;
  }
  const cut = stop === "length" || stop === "filtered";
  for (const [at, part] of expected.entries()) {
    const different = partDifference(part, preserved, { found: found[at] as Part, cut });
    if (different !== undefined) return `part ${at}: ${different}`;
  }
  return undefined;
}

/** Compares without order: all text together, all reasoning together, the calls one by one. */
function sumDifference(
  reply: LogicalReply,
  preserved: Preserved,
  found: readonly Part[],
): string | undefined {
  const { parts } = reply;
  for (const kind of ["text", "reasoning"] as const) {
    const before = parts.map((part) => (part.kind === kind ? part.text : "")).join("");
    const after = found.map((part) => (part.kind === kind ? part.text : "")).join("");
    if (before !== after) return `${kind}: ${show(before)} became ${show(after)}`;
  }
  for (const { kind, signature } of parts) {
    if (kind === "tool_call" || signature === undefined || !preserved.signatures[kind]) continue;
    if (!found.some((part) => holds(part, signature))) return `signature ${signature} is not kept`;
  }
  const calls = parts.filter((part) => part.kind === "tool_call");
  return partsDifference(
    { ...reply, parts: calls },
    preserved,
    found.filter((part) => part.kind === "tool_call"),
  );
}

function partDifference(
  expected: LogicalPart,
  preserved: Preserved,
  { found, cut }: { readonly found: Part; readonly cut: boolean },
): string | undefined {
  if (expected.kind !== found.kind) return `${expected.kind} became ${found.kind}`;
  if (expected.kind === "tool_call") {
    const different = callDifference(expected, preserved, { found, cut });
    if (different !== undefined) return different;
  } else if ("text" in found && found.text !== expected.text) {
    return `${show(expected.text)} became ${show(found.text)}`;
  }
  const { signature } = expected;
  if (signature === undefined || !preserved.signatures[expected.kind]) return undefined;
  const kept = "opaque" in found ? found.opaque : "metadata" in found ? found.metadata : undefined;
  return holds(kept, signature) ? undefined : `signature ${signature} is not kept`;
}

function callDifference(
  call: LogicalCall,
  preserved: Preserved,
  { found, cut }: { readonly found: Part; readonly cut: boolean },
): string | undefined {
  if (found.kind !== "tool_call") return "no call";
  if (found.tool !== call.tool) return `tool ${call.tool} became ${found.tool}`;
  if (preserved.ids && found.callId !== call.id) return `id ${call.id} became ${found.callId}`;
  if (preserved.raw && found.raw !== call.raw)
    return `raw ${show(call.raw)} became ${show(found.raw)}`;
  if (call.input === undefined) {
    return found.fault === undefined ? `cut arguments ${show(call.raw)} have an input` : undefined;
  }
  // A call without arguments looks like one whose arguments were cut off.
  const bare = preserved.raw ? call.raw === "" : Object.keys(call.input).length === 0;
  const mayBeCut = cut && (bare || !preserved.whole);
  if (mayBeCut && found.fault?.code === "truncated") return undefined;
  if (found.fault !== undefined)
    return `input of ${show(call.raw)} is a fault: ${found.fault.code}`;
  if (same(found.input, call.input)) return undefined;
  return `input ${show(JSON.stringify(call.input))} became ${show(JSON.stringify(found.input))}`;
}

function idsDifference(parts: readonly Part[]): string | undefined {
  const ids = parts.flatMap((part) => (part.kind === "tool_call" ? [part.callId] : []));
  return new Set(ids).size === ids.length ? undefined : `ids are not unique: ${ids.join(" ")}`;
}

/** True if a value contains the whole text anywhere. */
function holds(value: unknown, text: string): boolean {
  if (value === text) return true;
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((row) => holds(row, text));
}

function show(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}

/** Equal as JSON, and as bytes. The order of keys does not count. */
export function same(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object") return false;
  if (left === null || right === null || Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  if (Object.keys(right).length !== keys.length) return false;
  for (const key of keys) {
    if (!Object.hasOwn(right, key)) return false;
    const rows = left as Record<string, unknown>;
    if (!same(rows[key], (right as Record<string, unknown>)[key])) return false;
  }
  return true;
}

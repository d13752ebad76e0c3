import type { JsonObject, Usage } from "@millrace/core";
import fc from "fast-check";
import { argumentsOf } from "./encode/arguments.ts";
import { Random } from "../../../../tests/kit/random.ts";

/** A reply of a model, independent of any vendor's format. */
export interface LogicalReply {
  readonly parts: readonly LogicalPart[];
  readonly stop: LogicalStop;
  /**
   * In Millrace's terms: cached and written tokens are part of the input, reasoning is part of the
   * output.
   */
  readonly usage: LogicalUsage;
}

export type LogicalStop = "end" | "tools" | "length" | "filtered";
export type LogicalUsage = Required<Omit<Usage, "cost" | "longCacheWriteTokens">>;
export type LogicalPart = LogicalText | LogicalReasoning | LogicalCall;

/** Never empty, and never next to another text: two vendors do not separate texts. */
export interface LogicalText {
  readonly kind: "text";
  readonly text: string;
  readonly signature: string | undefined;
}

/** Never next to another reasoning. Empty only with a signature. */
export interface LogicalReasoning {
  readonly kind: "reasoning";
  readonly text: string;
  readonly signature: string | undefined;
}

export interface LogicalCall {
  readonly kind: "tool_call";
  readonly id: string;
  readonly tool: string;
  readonly raw: string;
  /**
   * The value of `raw`, by the generator. Undefined if the arguments were cut: such a call never
   * runs.
   */
  readonly input: JsonObject | undefined;
  readonly signature: string | undefined;
}

/** The order that every vendor can write: reasoning, text, calls. */
export function isPlain({ parts }: LogicalReply): boolean {
  const ranks = parts.map(({ kind }) => ["reasoning", "text", "tool_call"].indexOf(kind));
  return ranks.every((rank, at) => at === 0 || rank >= (ranks[at - 1] ?? 0));
}

const snippets: readonly string[] = [
  ..."a|the |Hello, world|fn(x)|0|é|ß|日本語|漢字かな|한국어|😀|👩‍👩‍👧‍👦|e\u0301|न\u093fं|שלום|🇩🇪".split(
    "|",
  ),
  ...'\n|\n\n|\r\n|\t|"|\'|\\|\\n|\\u0041|/|</b><b>|<script>|&amp;|`code`|{}|{"a":1}'.split("|"),
  ..."data: x|data: [DONE]|[DONE]|event: end|: ping|\n\ndata: {|null|true|<think>|</think>".split(
    "|",
  ),
  ..."\u2028|\u2029|\uFEFF|\uFFFD|\u0000|\u001f|\u007f|\u00a0|𝒳| ".split("|"),
];
const names = ["get_weather", "f", "search-files", "Read", "_x9", "mcp__fs__write"];
const signatureLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The reply of a seed. */
export function replyOf(seed: number): LogicalReply {
  const random = new Random(seed);
  const stop = random.pick<LogicalStop>(["end", "end", "tools", "tools", "length", "filtered"]);
  const kinds = random.chance(0.75) ? plainKinds(stop, random) : freeKinds(stop, random);
  const parts = kinds.map((kind, at) => partOf(kind, at, random));
  const last = parts.at(-1);
  if ((stop === "length" || stop === "filtered") && last?.kind === "tool_call") {
    parts[parts.length - 1] = cutCall(last, random);
  }
  return { parts, stop, usage: usageOf(random) };
}

function plainKinds(stop: LogicalStop, random: Random): readonly LogicalPart["kind"][] {
  return [
    ...(random.chance(0.35) ? (["reasoning"] as const) : []),
    ...(random.chance(0.75) ? (["text"] as const) : []),
    ...Array.from({ length: callCount(stop, random) }, () => "tool_call" as const),
  ];
}

/** Reasoning between calls, text after them. A reply with calls and no cut ends for its tools. */
function freeKinds(stop: LogicalStop, random: Random): readonly LogicalPart["kind"][] {
  const kinds: LogicalPart["kind"][] = [];
  let left = callCount(stop, random);
  while (true) {
    const kind = random.pick<LogicalPart["kind"]>(["reasoning", "text", "tool_call"]);
    if (kind !== "tool_call" && kind !== kinds.at(-1)) {
      kinds.push(kind);
    } else {
      if (left === 0) return kinds;
      left -= 1;
      kinds.push("tool_call");
    }
  }
}

function callCount(stop: LogicalStop, random: Random): number {
  if (stop === "end") return 0;
  if (stop === "tools") return random.chance(0.5) ? 1 : 1 + random.below(5);
  return random.chance(0.7) ? 0 : 1 + random.below(2);
}

function partOf(kind: LogicalPart["kind"], at: number, random: Random): LogicalPart {
  switch (kind) {
    case "text":
      return { kind, text: textOf(random), signature: signatureOf(random, 0.1) };
    case "reasoning": {
      const signature = signatureOf(random, 0.7);
      const empty = signature !== undefined && random.chance(0.15);
      return { kind, text: empty ? "" : textOf(random), signature };
    }
    case "tool_call": {
      const { raw, input } = argumentsOf(random, textOf);
      const id = `call_${at}${signatureText(random, 6).replaceAll(/[+/]/g, "_")}`;
      const signature = signatureOf(random, 0.2);
      return { kind, id, tool: random.pick(names), raw, input, signature };
    }
    default:
      kind satisfies never;
      throw new TypeError("no such kind");
  }
}

/**
 * The same call with a prefix of its arguments, in whole characters. White space around them is
 * ignored.
 */
function cutCall(call: LogicalCall, random: Random): LogicalCall {
  const inner = call.raw.trim();
  const raw = inner.slice(0, random.below(inner.length)).replace(/[\uD800-\uDBFF]$/, "");
  return { ...call, raw, input: undefined };
}

function textOf(random: Random): string {
  const count = random.chance(0.8) ? 1 + random.below(4) : 1 + random.below(10);
  let text = "";
  for (let piece = 0; piece < count; piece += 1) text += random.pick(snippets);
  return text;
}

function signatureOf(random: Random, probability: number): string | undefined {
  return random.chance(probability)
    ? `${signatureText(random, 8 + random.below(24))}==`
    : undefined;
}

function signatureText(random: Random, length: number): string {
  let text = "";
  for (let at = 0; at < length; at += 1) text += signatureLetters[random.below(64)];
  return text;
}

function usageOf(random: Random): LogicalUsage {
  const cachedTokens = random.chance(0.5) ? 0 : random.below(5_000);
  const cacheWriteTokens = random.chance(0.7) ? 0 : random.below(5_000);
  const reasoningTokens = random.chance(0.5) ? 0 : random.below(2_000);
  return {
    inputTokens: cachedTokens + cacheWriteTokens + 1 + random.below(9_000),
    outputTokens: reasoningTokens + 1 + random.below(3_000),
    cachedTokens,
    cacheWriteTokens,
    reasoningTokens,
  };
}

/** Replies that shrink: fewer parts, then shorter ones. To find a minimal failure. */
export const logicalReplies: fc.Arbitrary<LogicalReply> = fc
  .record({
    seed: fc.integer(),
    stop: fc.constantFrom<LogicalStop>("end", "tools", "length", "filtered"),
    reasoning: fc.option(words(), { nil: undefined }),
    text: fc.option(words(), { nil: undefined }),
    calls: fc.array(fc.nat(1_000_000), { maxLength: 4 }),
  })
  .map(({ seed, stop, reasoning, text, calls }) => {
    const random = new Random(seed);
    const parts: LogicalPart[] = [];
    if (reasoning !== undefined) {
      parts.push({ kind: "reasoning", text: reasoning, signature: signatureOf(random, 0.5) });
    }
    if (text !== undefined) parts.push({ kind: "text", text, signature: undefined });
    const whole = stop === "end" || stop === "tools";
    for (const call of whole ? calls : []) {
      parts.push(partOf("tool_call", parts.length, new Random(call)));
    }
    const called = parts.at(-1)?.kind === "tool_call";
    const reached = whole ? (called ? "tools" : "end") : stop;
    return { parts, stop: reached, usage: usageOf(random) };
  });

function words(): fc.Arbitrary<string> {
  return fc
    .array(fc.constantFrom(...snippets), { minLength: 1, maxLength: 6 })
    .map((rows) => rows.join(""))
    .filter((text) => text !== "");
}

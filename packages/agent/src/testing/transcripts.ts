import { callId, itemId, partId } from "@millrace/core/writing";
import type {
  Author,
  CallId,
  Item,
  Part,
  StopReason,
  ToolCallPart,
  ToolResultPart,
} from "@millrace/core";
import type { Compaction } from "@millrace/core/reading";
import type { Ending } from "@millrace/core/writing";
import fc from "fast-check";

/** The part of a session from which requests are assembled. */
export interface History {
  readonly items: readonly Item[];
  readonly compactions: readonly Compaction[];
}

const choices = fc.array(fc.nat(0xffffff), { maxLength: 12, size: "max" });

/** Malformed sessions: repeated ids, results anywhere, compactions of any range. */
export const histories: fc.Arbitrary<History> = choices.map((numbers) => build(numbers, "any"));

/** The same with unique item ids, as stores guarantee them. */
export const storedHistories: fc.Arbitrary<History> = choices.map((numbers) =>
  build(numbers, "unique"),
);

const stops: readonly StopReason[] = ["tools", "end", "aborted", "truncated", "length", "failed"];
const otherAuthors: readonly Author[] = ["user", "agent", "model"];

/** Each number is one step. There are few call ids, so that they repeat. */
function build(numbers: readonly number[], ids: "any" | "unique"): History {
  const items: Item[] = [];
  const compactions: Compaction[] = [];
  for (const [at, number] of numbers.entries()) {
    const pick = (shift: number, size: number): number => (number >> shift) % size;
    const reused = ids === "any" && pick(4, 16) === 0;
    const id = reused ? `i${pick(8, 4)}` : `i${at}`;
    const names = [pick(6, 4), pick(8, 4), pick(10, 4)].slice(0, 1 + pick(12, 3)).map(nameOf);
    const author = otherAuthors[pick(14, 3)] ?? "user";
    const long = pick(21, 3) === 0;
    const answer = (name: string): ToolResultPart => result(name, outputText(at, long), number);
    switch (number % 8) {
      case 0:
      case 1: {
        const own = [...new Set(names)];
        items.push(item(id, "model", [words(at), ...own.map(call)], "tools"));
        if (pick(3, 2) === 0) items.push(item(`${id}r`, "tool", own.map(answer)));
        else for (const name of own) items.push(item(`${id}r${name}`, "tool", [answer(name)]));
        break;
      }
      case 2:
        items.push(item(id, "model", [...names.map(call), words(at)], stops[pick(16, 6)]));
        break;
      case 3:
        items.push(item(id, pick(20, 4) === 0 ? author : "tool", names.map(answer)));
        break;
      case 4: {
        const mixed = [call(names[0] ?? "0"), words(at), ...names.map(answer)];
        items.push(item(id, author, pick(18, 2) === 0 ? mixed : mixed.toReversed()));
        break;
      }
      case 5:
        items.push(item(id, author, [words(at)], stops[pick(16, 6)]));
        break;
      default: {
        const range = [pick(4, items.length + 1), pick(12, items.length + 1)];
        // Usually first before last.
        if (pick(20, 8) !== 0) range.sort((a, b) => a - b);
        const [first, last] = range.map((place) => items[place]?.id ?? itemId("nowhere"));
        const text = pick(3, 8) === 0 ? [] : [summaryWords(at)];
        items.push(item(`s${at}`, "agent", text));
        if (first !== undefined && last !== undefined) {
          compactions.push({ itemId: itemId(`s${at}`), first, last });
        }
      }
    }
  }
  return { items, compactions };
}

/** `0#2` looks like the name of the second output of call `0`. */
function nameOf(number: number): string {
  return ["0", "1", "0#2", "call 😀"][number] ?? "0";
}

export function item(
  id: string,
  author: Author,
  parts: readonly Part[],
  stop: StopReason = "end",
): Item {
  const isCut = stop === "aborted" || stop === "truncated" || stop === "failed";
  const ending: Ending = isCut ? { stop, cause: { code: "x", message: "x" } } : { stop };
  return { id: itemId(id), author, parts, ...ending };
}

export function text(content: string): Part {
  return { kind: "text", id: partId("t"), text: content };
}

export function call(name: string): ToolCallPart {
  const id = partId(`c${name}`);
  return { kind: "tool_call", id, callId: callId(name), tool: "x", raw: "{}", input: {} };
}

/** A result with the content in its text, in its output, or in both, by the number. */
export function result(name: string, content: string, number = 0): ToolResultPart {
  const base = {
    kind: "tool_result",
    id: partId(`r${name}`),
    callId: callId(name),
    tool: "x",
    status: "ok",
  } as const;
  const sort = (number >> 22) % 4;
  if (sort === 1) return { ...base, text: "", output: content };
  return sort === 2
    ? { ...base, text: content, output: { said: content } }
    : { ...base, text: content };
}

/** The calls of the items with their first answers; a result answers the latest call of its id. */
export function answeredCalls(items: readonly Item[]): readonly Answered[] {
  const calls: Answered[] = [];
  const latest = new Map<CallId, Answered>();
  for (const [at, { parts }] of items.entries()) {
    const own = new Set<CallId>();
    for (const part of parts) {
      if (part.kind === "tool_call" && !own.has(part.callId)) {
        own.add(part.callId);
        const answered: Answered = { call: part, at };
        calls.push(answered);
        latest.set(part.callId, answered);
      }
      if (part.kind !== "tool_result") continue;
      const answered = latest.get(part.callId);
      if (answered === undefined || answered.result !== undefined) continue;
      answered.result = part;
      answered.answeredAt = at;
    }
  }
  return calls;
}

export interface Answered {
  readonly call: ToolCallPart;
  readonly at: number;
  result?: ToolResultPart;
  answeredAt?: number;
}

function words(at: number): Part {
  return text(`words ${at}`);
}

function summaryWords(at: number): Part {
  return text(`summary ${at}`);
}

function outputText(at: number, long: boolean): string {
  const unit = ["a", "é", "日", "😀", `${at} `][at % 5] ?? "a";
  return long ? `${at}:${unit.repeat(700)}:${at}` : `done ${at}`;
}

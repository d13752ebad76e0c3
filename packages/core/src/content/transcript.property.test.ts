import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { callId, itemId, partId } from "../ids.ts";
import { choices } from "../testing/delta-programs.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import type { Author, Ending, Item, StopReason } from "./item.ts";
import { isCutStop } from "./item.ts";
import type { Part, ToolCallPart, ToolResultPart } from "./part.ts";
import { checkTranscript, repairTranscript } from "./transcript.ts";
import type { Transcript } from "./transcript.ts";

vi.setConfig({ testTimeout: patience });

const times = runs(200_000, 20_000_000);
const fewer = times / 5;

const transcript = choices(10).map(build);

describe("repairTranscript", () => {
  it("what comes back is legal, and repairing it again changes nothing", () => {
    let legal = 0;

    fc.assert(
      fc.property(transcript, (items) => {
        const { items: repaired, repairs } = repairTranscript(items);
        if (!isLegal(repaired)) throw new Error("still illegal");
        if (checkTranscript(repaired).length > 0) throw new Error("faults are left");
        if (repairTranscript(repaired).items !== repaired) throw new Error("repaired twice");
        if (repairs.length === 0) legal += 1;
      }),
      { numRuns: times },
    );

    expect(legal).toBeGreaterThan(times / 100);
    expect(legal).toBeLessThan(times / 2);
    console.log(`count: P10 (repair), ${times} transcripts, 0 failures`);
  });

  it("a transcript is repaired exactly when it is illegal, and a legal one comes back as it is", () => {
    fc.assert(
      fc.property(transcript, (items) => {
        const { items: repaired, repairs } = repairTranscript(items);
        const legal = isLegal(items);
        if (legal !== (repairs.length === 0)) throw new Error(JSON.stringify(repairs));
        if (legal && repaired !== items) throw new Error("another array");
      }),
      { numRuns: fewer },
    );
    console.log(`count: legal transcripts stay, ${fewer} transcripts, 0 failures`);
  });

  it("the first answer to a call is kept as its answer, and only a call without one is given another", () => {
    fc.assert(
      fc.property(transcript, (items) => {
        const expected = firstAnswers(items);
        const found = firstAnswers(repairTranscript(items).items);
        if (found.length !== expected.length) throw new Error("a call is lost or made up");
        for (const [at, { call, result }] of expected.entries()) {
          const answer = found[at];
          if (answer?.call !== call) throw new Error(`call ${at} is another one`);
          if (answer.result === undefined) throw new Error(`call ${at} has no answer`);
          if (result !== undefined && answer.result !== result)
            throw new Error(`call ${at} has lost its answer`);
          if ((result === undefined) !== (answer.result.synthetic === true))
            throw new Error(`call ${at} has an answer that is not told from a real one`);
        }
      }),
      { numRuns: fewer },
    );
    console.log(`count: first answers are kept, ${fewer} transcripts, 0 failures`);
  });

  it("no text is lost, doubled or moved, and each stays with its author and its ending", () => {
    fc.assert(
      fc.property(transcript, (items) => {
        const before = words(items);
        const after = words(repairTranscript(items).items);
        if (after.length !== before.length) throw new Error("lost or doubled");
        for (const [at, { part, head }] of before.entries()) {
          if (after[at]?.part !== part) throw new Error("moved");
          if (after[at].head !== head) throw new Error(`${head} is ${after[at].head}`);
        }
      }),
      { numRuns: fewer },
    );
    console.log(`count: words stay in place, ${fewer} transcripts, 0 failures`);
  });

  it("of a tool's parts, only those behind a left-out answer go with it", () => {
    fc.assert(
      fc.property(transcript, (items) => {
        const { items: repaired } = repairTranscript(items);
        const kept = new Set(repaired.flatMap((item) => item.parts));
        const answered = new Set(firstAnswers(items).map(({ result }) => result));
        for (const item of items.filter(({ author }) => author === "tool")) {
          let stays = true;
          const lead = leading(item);
          for (const part of item.parts) {
            if (part.kind === "tool_result") stays = answered.has(part);
            else if (isWords(part) && (stays || lead.includes(part)) && !kept.has(part))
              throw new Error(`lost ${JSON.stringify(part)}`);
          }
        }
      }),
      { numRuns: fewer },
    );
    console.log(`count: what tools said stays, ${fewer} transcripts, 0 failures`);
  });
});

/** The law in its plainest form, written apart from the code that it judges. */
function isLegal(items: Transcript): boolean {
  if (new Set(items.map((item) => item.id)).size !== items.length) return false;
  let expected: string[] = [];
  for (const item of items) {
    const results = item.parts.filter((part) => part.kind === "tool_result");
    const calls = item.parts.filter((part) => part.kind === "tool_call");
    if (item.author === "tool" && results.length > 0 && calls.length === 0) {
      if (results.some((result) => result.callId !== expected.shift())) return false;
      continue;
    }
    if (expected.length > 0) return false;
    const open = new Map<string, boolean>();
    for (const part of item.parts) {
      if (part.kind === "tool_call") {
        if (open.has(part.callId)) return false;
        open.set(part.callId, true);
      }
      if (part.kind === "tool_result") {
        if (open.get(part.callId) !== true) return false;
        open.set(part.callId, false);
      }
    }
    expected = [...open].filter(([, waits]) => waits).map(([name]) => name);
  }
  return expected.length === 0;
}

/** Each call in order, with the first result of its id before that id is used again. */
function firstAnswers(
  items: Transcript,
): readonly { readonly call: ToolCallPart; result?: ToolResultPart }[] {
  const calls: { readonly call: ToolCallPart; result?: ToolResultPart }[] = [];
  const latest = new Map<string, (typeof calls)[number]>();
  for (const item of items) {
    const own = new Set<string>();
    for (const part of item.parts) {
      if (part.kind === "tool_call" && !own.has(part.callId)) {
        own.add(part.callId);
        const call = { call: part };
        calls.push(call);
        latest.set(part.callId, call);
      }
      if (part.kind === "tool_result") {
        const call = latest.get(part.callId);
        if (call !== undefined) call.result ??= part;
      }
    }
  }
  return calls;
}

function isWords(part: Part): boolean {
  return part.kind !== "tool_call" && part.kind !== "tool_result";
}

/** The parts outside of tools' answers, in order, with the author and ending of their item. */
function words(items: Transcript): readonly { readonly part: Part; readonly head: string }[] {
  return items
    .filter((item) => item.author !== "tool")
    .flatMap((item) =>
      item.parts.filter(isWords).map((part) => ({ part, head: `${item.author} ${item.stop}` })),
    );
}

/** A tool's parts before its first result. Parts behind a result go where that goes. */
function leading(item: Item): readonly Part[] {
  const first = item.parts.findIndex((part) => part.kind === "tool_result");
  return item.parts.slice(0, first < 0 ? item.parts.length : first).filter(isWords);
}

const stops: readonly StopReason[] = ["tools", "end", "aborted", "truncated", "length", "failed"];
const otherAuthors: readonly Author[] = ["user", "agent", "model"];

/**
 * One number is one step: a whole legal turn, an item that calls, one that answers, one that does
 * neither, or an item that is there once more. Call ids are few, so they meet again.
 */
function build(numbers: readonly number[]): Transcript {
  const items: Item[] = [];
  for (const [at, number] of numbers.entries()) {
    const pick = (shift: number, size: number): number => (number >> shift) % size;
    const id = pick(4, 16) === 0 ? `i${pick(8, 4)}${awkwardEnds[pick(10, 4)]}` : `i${at}`;
    const names = [pick(6, 4), pick(8, 4), pick(10, 4)].slice(0, 1 + pick(12, 3)).map(String);
    const author = otherAuthors[pick(14, 3)] as Author;
    switch (number % 8) {
      case 0:
      case 1: {
        const calls = [...new Set(names)];
        items.push(
          item(id, "model", [text(at), ...calls.map((name) => call(name, number))], "tools"),
        );
        if (pick(3, 2) === 0) items.push(item(`${id}r`, "tool", calls.map(result), "end"));
        else
          for (const name of calls)
            items.push(item(`${id}r${name}`, "tool", [result(name, at)], "end"));
        break;
      }
      case 2: {
        const calls = names.map((name) => call(name, number));
        // Now and then the same object twice, as a careless writer would put it there.
        const again = pick(22, 2) === 0 ? calls.slice(0, 1) : [];
        items.push(item(id, "model", [...calls, text(at), ...again], stops[pick(16, 6)]));
        break;
      }
      case 3:
      case 4: {
        const parts = names.flatMap((name) =>
          pick(18, 2) === 0 ? [result(name, at), media(at)] : [result(name, at)],
        );
        const lead = pick(19, 4) === 0 ? [text(at)] : [];
        items.push(item(id, pick(20, 4) === 0 ? author : "tool", [...lead, ...parts], "end"));
        break;
      }
      case 5: {
        // An item that both calls and answers, its own calls or those of others.
        const mixed = [call(names[0] ?? "0", number), text(at), ...names.map(result)];
        const parts = pick(18, 2) === 0 ? mixed : mixed.toReversed();
        items.push(item(id, pick(20, 4) === 0 ? "tool" : author, parts, "end"));
        break;
      }
      case 6:
        items.push(item(id, author, [text(at)], stops[pick(16, 6)]));
        break;
      default: {
        const again = items[pick(8, Math.max(1, items.length))];
        if (again !== undefined) items.push(pick(3, 2) === 0 ? again : { ...again });
      }
    }
  }
  return items;
}

/** Ids as a repair makes them, so that it meets its own. */
const awkwardEnds: readonly string[] = ["", ":again", ":0", "r:1"];

function item(id: string, author: Author, parts: readonly Part[], stop: StopReason = "end"): Item {
  const ending: Ending = isCutStop(stop) ? { stop, cause: { code: "x", message: "x" } } : { stop };
  return { id: itemId(id), author, parts, ...ending };
}

function text(at: number): Part {
  return { kind: "text", id: partId("t"), text: `words ${at}` };
}

function media(at: number): Part {
  return { kind: "media", id: partId("m"), mediaType: "image/png", url: `picture ${at}` };
}

function call(name: string, number: number): ToolCallPart {
  const base = {
    kind: "tool_call",
    id: partId(`c${name}`),
    callId: callId(name),
    tool: "x",
  } as const;
  return (number >> 21) % 4 === 0
    ? { ...base, raw: "{", fault: { code: "truncated" } }
    : { ...base, raw: "{}", input: {} };
}

function result(name: string, at: number): ToolResultPart {
  const id = partId(`r${name}`);
  return {
    kind: "tool_result",
    id,
    callId: callId(name),
    tool: "x",
    status: "ok",
    text: `done ${at}`,
  };
}

import { describe, expect, it } from "vitest";
import { callId, itemId, partId } from "../ids.ts";
import type { Author, Item } from "./item.ts";
import type { Part, ToolCallPart, ToolResultPart } from "./part.ts";
import { checkTranscript, repairTranscript } from "./transcript.ts";
import type { Transcript } from "./transcript.ts";

const user = item("u", "user", [text("hi")]);

describe("a legal transcript", () => {
  it.each([
    ["nothing", []],
    ["words only", [user, item("m", "model", [text("hello")])]],
    ["a call and its answer", [user, calling("m", "a"), answer("r", "a"), user2()]],
    [
      "parallel calls, answered in the order of the calls",
      [calling("m", "a", "b"), answer("r1", "a"), answer("r2", "b")],
    ],
    ["several answers in one item", [calling("m", "a", "b"), answer("r", "a", "b")]],
    [
      "a call id that a later turn uses again",
      [calling("m1", "a"), answer("r1", "a"), calling("m2", "a"), answer("r2", "a")],
    ],
    ["a call with a fault, answered", [item("m", "model", [faulted("a")]), answer("r", "a")]],
  ] as const)("%s: comes back as the same array", (_, items: Transcript) => {
    const { items: repaired, repairs } = repairTranscript(items);

    expect(repaired).toBe(items);
    expect(repairs).toStrictEqual([]);
    expect(checkTranscript(items)).toStrictEqual([]);
  });

  it("an id that looks like one made by a repair is no duplicate", () => {
    const items = [calling("m", "a", "b"), answer("r", "a", "b"), item("r:a", "user", [text("x")])];

    expect(checkTranscript(items)).toStrictEqual([]);
    expect(repairTranscript(items).items).toBe(items);
  });
});

describe("faults", () => {
  it.each([
    [[calling("m", "a")], "unanswered_call", "m"],
    [[calling("m", "a"), answer("r", "a"), answer("r2", "a")], "answered_twice", "r2"],
    [[user, answer("r", "a")], "result_without_call", "r"],
    [[calling("m", "a"), user, answer("r", "a")], "out_of_order", "r"],
    [[item("m", "model", [call("a"), call("a")]), answer("r", "a")], "duplicate_call", "m"],
  ] as const)("case %#: the fault says which item and which call", (items, code, where) => {
    expect(checkTranscript(items)).toStrictEqual([
      { code, itemId: itemId(where), callId: callId("a") },
    ]);
  });

  it("answers in another order than the calls are faults of the answers", () => {
    const items = [calling("m", "a", "b"), answer("r1", "b"), answer("r2", "a")];

    expect(checkTranscript(items).map((fault) => fault.code)).toContain("out_of_order");
  });

  it("an item id that is there twice is a fault without a call", () => {
    expect(checkTranscript([user, user])).toStrictEqual([
      { code: "duplicate_item", itemId: itemId("u") },
    ]);
  });
});

describe("repairs", () => {
  it("answers move behind their calls, in the order of the calls", () => {
    const model = calling("m", "a", "b");
    const [b, a] = [answer("r1", "b"), answer("r2", "a")];

    expect(repairTranscript([model, b, user, a]).items).toStrictEqual([model, a, b, user]);
  });

  it("a second answer and an answer to nothing are left out", () => {
    const model = calling("m", "a");
    const first = answer("r1", "a");

    const { items } = repairTranscript([answer("r0", "z"), model, first, answer("r2", "a")]);

    expect(items).toStrictEqual([model, first]);
  });

  it("a result answers the latest call of its id", () => {
    const [one, two, late] = [calling("m1", "a"), calling("m2", "a"), answer("r", "a")];

    const { items } = repairTranscript([one, two, late]);

    expect(items.map((found) => found.id)).toStrictEqual(["m1", "m1:a:unanswered", "m2", "r"]);
  });

  it("one item with answers to two turns is cut in two, and each keeps its pictures", () => {
    const parts = [text("both"), result("a"), picture("1"), result("b"), picture("2")];
    const models = [calling("m1", "a"), calling("m2", "b")];

    const { items } = repairTranscript([...models, item("r", "tool", parts)]);

    expect(items.map((found) => found.id)).toStrictEqual(["m1", "r", "m2", "r:b"]);
    expect(items[1]?.parts).toStrictEqual(parts.slice(0, 3));
    expect(items[3]?.parts).toStrictEqual(parts.slice(3));
  });

  it("what an item cost is counted once, also when the item is cut in two", () => {
    const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0 };
    const both = { ...answer("r", "a", "b"), usage };

    const { items } = repairTranscript([calling("m1", "a"), calling("m2", "b"), both]);

    expect(items.filter((found) => found.usage !== undefined)).toHaveLength(1);
  });

  it("an item whose id is taken gets another, and keeps all else", () => {
    const again = item("u", "user", [text("again")]);

    const { items } = repairTranscript([user, again, again]);

    expect(items).toStrictEqual([
      user,
      { ...again, id: itemId("u:again") },
      { ...again, id: itemId("u:again:2") },
    ]);
  });

  it("a long id of wide characters can be made into another", () => {
    const wide = item(`${"😀".repeat(100)}a`, "user", [text("hi")]);

    const { items } = repairTranscript([wide, wide]);

    expect(items).toHaveLength(2);
    expect(items[1]?.id).not.toBe(wide.id);
  });

  it("of two calls under one id the first stays, also when both are one object", () => {
    const twice = call("a");
    const reply = answer("r", "a");

    const { items } = repairTranscript([item("m", "model", [text("x"), twice, twice]), reply]);

    expect(items).toStrictEqual([item("m", "model", [text("x"), twice]), reply]);
  });

  it("a person's parts beside an answer to nothing are kept", () => {
    const words = text("please go on");

    const { items } = repairTranscript([item("u", "user", [words, result("z")])]);

    expect(items.flatMap((found) => found.parts)).toStrictEqual([words]);
  });

  it("a result in the item that calls is not beside a second answer", () => {
    const { items } = repairTranscript([item("m", "model", [call("a"), result("a")])]);

    const results = items.flatMap((found) => found.parts).filter(isResult);
    expect(results).toStrictEqual([result("a")]);
  });

  it("a call in an item that answers is answered too", () => {
    const items = [calling("m", "a"), item("x", "agent", [result("a"), call("b")])];

    const results = repairTranscript(items)
      .items.flatMap((found) => found.parts)
      .filter(isResult);

    expect(results.map((found) => found.callId)).toStrictEqual(["a", "b"]);
  });
});

describe("answers that no tool gave", () => {
  const cut = { cause: { code: "x", message: "x" } };
  it.each([
    [{ stop: "tools" }, "unknown", call("a")],
    [{ stop: "end" }, "unknown", call("a")],
    [{ stop: "aborted", ...cut }, "aborted", call("a")],
    [{ stop: "truncated", ...cut }, "failed", call("a")],
    [{ stop: "failed", ...cut }, "failed", call("a")],
    [{ stop: "length" }, "failed", call("a")],
    [{ stop: "filtered" }, "failed", call("a")],
    [{ stop: "tools" }, "failed", faulted("a")],
    [{ stop: "aborted", ...cut }, "failed", faulted("a")],
  ] as const)("after %j the answer to a call is synthetic and says %s", (ending, status, part) => {
    const model: Item = { id: itemId("m"), author: "model", parts: [part], ...ending };

    const { items, repairs } = repairTranscript([model]);

    expect(items).toHaveLength(2);
    expect(items[1]).toMatchObject({ author: "tool", stop: "end" });
    expect(items[1]?.parts).toStrictEqual([
      { ...result("a"), id: "result", status, text: expect.any(String) as string, synthetic: true },
    ]);
    expect(repairs.map((repair) => repair.code)).toStrictEqual(["unanswered_call"]);
  });

  it("a repair made twice gives the same transcript", () => {
    const items = [calling("m", "a", "b"), user, answer("r", "b", "z"), user];

    expect(repairTranscript(items)).toStrictEqual(repairTranscript(items));
  });

  it("the transcript given is left as it was", () => {
    const items = [calling("m", "a", "a"), answer("r", "z"), user, user];
    const before = structuredClone(items);

    repairTranscript(items);

    expect(items).toStrictEqual(before);
  });
});

function isResult(part: Part): part is ToolResultPart {
  return part.kind === "tool_result";
}

function item(id: string, author: Author, parts: readonly Part[]): Item {
  return { id: itemId(id), author, parts, stop: "end" };
}

function user2(): Item {
  return item("u2", "user", [text("thanks")]);
}

function calling(id: string, ...names: readonly string[]): Item {
  return item(id, "model", names.map(call));
}

function answer(id: string, ...names: readonly string[]): Item {
  return item(id, "tool", names.map(result));
}

function text(words: string): Part {
  return { kind: "text", id: partId("t"), text: words };
}

function picture(url: string): Part {
  return { kind: "media", id: partId("p"), mediaType: "image/png", url };
}

function call(name: string): ToolCallPart {
  const id = partId(`c-${name}`);
  return { kind: "tool_call", id, callId: callId(name), tool: "x", raw: "{}", input: {} };
}

function faulted(name: string): ToolCallPart {
  const { input: _, ...rest } = call(name);
  return { ...rest, raw: "{", fault: { code: "truncated" } };
}

function result(name: string): ToolResultPart {
  const id = partId(`r-${name}`);
  return { kind: "tool_result", id, callId: callId(name), tool: "x", status: "ok", text: "done" };
}

import { registerSecret } from "@millrace/core/secrets";
import { checkJson } from "@millrace/core/wire";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { runs } from "../../../../tests/kit/runs.ts";
import { messageOf, resultOf } from "./output.ts";

vi.setConfig({ testTimeout: process.env["CAMPAIGN"] === "1" ? 24 * 3_600_000 : 120_000 });

/** Something that is cyclic, and says so only after some levels. */
function cyclic(): unknown {
  const root: Record<string, unknown> = { name: "root" };
  root["child"] = { parent: root };
  return root;
}

function nested(depth: number): unknown {
  let value: unknown = "core";
  for (let level = 0; level < depth; level += 1) value = { value };
  return value;
}

const throwing = {
  before: 1,
  get bad(): unknown {
    throw new Error("no");
  },
  after: 2,
};

describe("K06: a tool's result", () => {
  it.each<[string, unknown, string, string, unknown]>([
    ["a string", "done", "", "done", undefined],
    ["nothing", undefined, "", "", undefined],
    ["nothing after streaming", undefined, "abc", "abc", undefined],
    ["null", null, "", "null", null],
    ["a number", 5, "", "5", 5],
    ["a negative zero", [-0], "", "[0]", [0]],
    ["an object", { b: [1, null, "x"] }, "", '{"b":[1,null,"x"]}', { b: [1, null, "x"] }],
    ["an object after streaming", { code: 0 }, "abc", 'abc\n{"code":0}', { code: 0 }],
    ["a list after a line", [1], "abc\n", "abc\n[1]", [1]],
    ["null after streaming", null, "abc", "abc\nnull", null],
    [
      "the value that it streamed",
      { a: 1, b: 2 },
      '{ "b": 2, "a": 1 }',
      '{ "b": 2, "a": 1 }',
      { a: 1, b: 2 },
    ],
    ["an undefined field", { a: 1, b: undefined }, "", '{"a":1}', { a: 1 }],
    ["an undefined row", [1, undefined], "", "[1,null]", [1, null]],
    ["the text that it streamed", "abc", "abc", "abc", undefined],
    ["the text that it streamed and more", "abcd", "abc", "abcd", undefined],
    ["another string after streaming", "exit 1", "abc", "abc\nexit 1", "exit 1"],
    ["another string after a line", "exit 1", "abc\n", "abc\nexit 1", "exit 1"],
    ["an empty string after streaming", "", "abc", "abc", ""],
    [
      "a date",
      { at: new Date(0) },
      "",
      '{"at":"1970-01-01T00:00:00.000Z"}',
      { at: new Date(0).toJSON() },
    ],
    ["a BigInt", 12n, "", "12", "12"],
    ["a BigInt inside", { n: -12n }, "", '{"n":"-12"}', { n: "-12" }],
    ["a Set", { tags: new Set(["a", 1n]) }, "", '{"tags":["a","1"]}', { tags: ["a", "1"] }],
    [
      "a Map",
      new Map([[1, new Date(0)]]),
      "",
      `[[1,"${new Date(0).toJSON()}"]]`,
      [[1, new Date(0).toJSON()]],
    ],
    ["a function inside", { a: 1, f: () => 1, [Symbol("s")]: 2 }, "", '{"a":1}', { a: 1 }],
    [
      "a function in a list",
      [() => 1, Symbol("s"), undefined],
      "",
      "[null,null,null]",
      [null, null, null],
    ],
    [
      "a toJSON that gives nothing",
      { a: { toJSON: () => undefined }, b: 1 },
      "",
      '{"b":1}',
      { b: 1 },
    ],
    [
      "an error",
      { error: Object.assign(new TypeError("no such file"), { code: "ENOENT" }) },
      "",
      '{"error":{"name":"TypeError","message":"no such file","code":"ENOENT"}}',
      { error: { name: "TypeError", message: "no such file", code: "ENOENT" } },
    ],
    ["a toJSON", { toJSON: () => ({ a: 1 }) }, "", '{"a":1}', { a: 1 }],
    ["half a character", "\ud800", "", "\ufffd", undefined],
    [
      "half a character inside",
      { "\ud800": "\udc00" },
      "",
      '{"\ufffd":"\ufffd"}',
      { "\ufffd": "\ufffd" },
    ],
  ])("from %s", (_, returned, streamed, text, output) => {
    expect(resultOf(returned, streamed)).toStrictEqual({
      text,
      ...(output === undefined ? {} : { output }),
    });
  });

  it.each<[string, unknown, string, string]>([
    [
      "a BigInt of a million digits",
      1n << 4_000_000n,
      "[a very large bigint]",
      "a very large bigint",
    ],
    ["a function", () => 1, "[function]", "function"],
    ["a symbol", Symbol("x"), "[symbol]", "symbol"],
    ["NaN", { rows: [1, Number.NaN] }, '{"rows":[1,"[NaN]"]}', "NaN at rows.1"],
    ["a date without a time", new Date(Number.NaN), "[Invalid Date]", "Invalid Date"],
    ["bytes", new Uint8Array([1, 2, 3]), "[3 bytes]", "3 bytes"],
    ["a Buffer", { data: Buffer.from("abc") }, '{"data":"[3 bytes]"}', "3 bytes at data"],
    [
      "bytes in a Map",
      new Map([["a", new ArrayBuffer(2)]]),
      '[["a","[2 bytes]"]]',
      "2 bytes at 0.1",
    ],
    ["a promise", { later: Promise.resolve() }, '{"later":"[Promise]"}', "Promise at later"],
    [
      "a cycle",
      cyclic(),
      '{"name":"root","child":{"parent":"[the same again]"}}',
      "the same again at child.parent",
    ],
    [
      "a getter that throws",
      throwing,
      '{"before":1,"bad":"[unreadable: no]","after":2}',
      "unreadable: no at bad",
    ],
    ["a toJSON that gives itself", nest(), "[the same again]", "the same again"],
  ])("from %s is a description, the problem and no output", (_, returned, text, problem) => {
    expect(resultOf(returned, "")).toStrictEqual({ text, problem });
    expect(resultOf(returned, "log")).toStrictEqual({ text: `log\n${text}`, problem });
  });

  function nest(): unknown {
    const self = { toJSON: (): unknown => self };
    return self;
  }

  it("says the same value twice, where it is no cycle", () => {
    const shared = { a: 1 };

    expect(resultOf([shared, shared], "").output).toStrictEqual([{ a: 1 }, { a: 1 }]);
  });

  it("holds a value at the depth that is stored, and describes a deeper one", () => {
    expect(resultOf(nested(64), "").output).toStrictEqual(nested(64));
    const { text, output } = resultOf(nested(65), "");
    expect(output).toBeUndefined();
    expect(text).toContain("[too deep]");
    expect(resultOf(nested(100_000), "").output).toBeUndefined();
  });

  it("K08: describes a value that is too large, in bounded text", () => {
    const large: readonly unknown[] = [
      Array.from({ length: 1_000_000 }, () => "x"),
      { length: 5e8, text: "x".repeat(10_000_000) },
      Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`k${at}`, at])),
      Array.from({ length: 3_000 }, () => Array.from({ length: 3_000 }, () => 1)),
      Array.from({ length: 2 ** 20 }),
      new Map(Array.from({ length: 200_000 }, (_, at) => [at, at])),
      new Set(Array.from({ length: 200_000 }, (_, at) => at)),
    ];

    for (const value of large) {
      const { text, output } = resultOf(value, "");
      expect(output).toBeUndefined();
      expect(text.length).toBeLessThan(4_000_000);
    }
  });

  it("is not taken from a key that could reach a prototype", () => {
    const evil: unknown = JSON.parse('{"__proto__":{"admin":true},"a":1}');

    const { text, output, problem } = resultOf(evil, "");

    expect(output).toBeUndefined();
    expect(problem).toBe("forbidden key __proto__");
    expect(text).toBe('{"__proto__":{"admin":true},"a":1}');
  });

  it("is a copy: what the tool changes afterwards is not in it", () => {
    const returned = { list: [1] };

    const { output } = resultOf(returned, "");
    returned.list.push(2);

    expect(output).toStrictEqual({ list: [1] });
  });

  it("survives proxies that throw at every touch", () => {
    const handler = new Proxy(
      {},
      {
        get: () => () => {
          throw new Error("no");
        },
      },
    );

    expect(resultOf(new Proxy({}, handler), "").text).toBe("[unreadable: no]");
    expect(resultOf({ inner: new Proxy([], handler), a: 1 }, "").text).toBe(
      '{"inner":"[unreadable: no]","a":1}',
    );
  });

  it("never throws and is always storable, whatever is returned", () => {
    const times = runs(20_000, 2_000_000);

    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withSet: true,
          withTypedArray: true,
          withSparseArray: true,
          withNullPrototype: true,
          withObjectString: true,
          withBoxedValues: true,
          key: fc.oneof(fc.string(), fc.constantFrom("__proto__", "toJSON", "constructor", "then")),
        }),
        fc.string({ unit: "binary-ascii" }),
        (returned, streamed) => {
          const { text, output, problem } = resultOf(returned, streamed);
          if (output !== undefined && problem !== undefined) throw new Error("output and problem");
          if (!text.isWellFormed()) throw new Error("half a character");
          if (!text.startsWith(streamed)) throw new Error("does not begin with what was streamed");
          if (output !== undefined && checkJson(output) !== undefined) throw new Error("not JSON");
        },
      ),
      { numRuns: times },
    );

    console.log(`count: K06 (results), ${times} values, 0 failures`);
  });
});

describe("K07: what was thrown", () => {
  it.each<[string, unknown, string]>([
    ["an error", new Error("boom"), "boom"],
    ["an error without a message", new RangeError(""), "RangeError"],
    [
      "an error with a cause",
      new Error("fetch failed", { cause: new Error("refused") }),
      "fetch failed: refused",
    ],
    ["a string", "boom", "boom"],
    ["nothing", undefined, "undefined"],
    ["null", null, "null"],
    ["a number", 5, "5"],
    ["a symbol", Symbol("x"), "Symbol(x)"],
    ["data", { code: 5 }, '{"code":5}'],
    ["data with a message", { message: "boom" }, "boom"],
    ["an object without a prototype", Object.create(null), "something that can't be read"],
    ["half a character", new Error("\ud800"), "\ufffd"],
  ])("%s is told by its message", (_, thrown, message) => {
    expect(messageOf(thrown)).toBe(message);
  });

  it("never shows a secret of the process, nor do its causes", () => {
    const release = registerSecret({ name: "token", value: "hunter2-hunter2" });
    const cause = new Error(`sent ${btoa("hunter2-hunter2")}`);

    const message = messageOf(new Error("no access with hunter2-hunter2", { cause }));
    release();

    expect(message).toMatch(/^no access with \[redacted\]: sent \[redacted\]/);
  });

  it("never shows a stack, and has an end", () => {
    const error = new Error("boom");
    const endless = new Error("again");
    endless.cause = endless;

    expect(messageOf(error)).not.toContain("output.test");
    expect(messageOf(endless)).toBe("again");
    expect(messageOf(new Error("x".repeat(1_000_000))).length).toBeLessThan(9_000);
  });
});

import { describe, expect, it } from "vitest";
import { defaultJsonLimits } from "../json.ts";
import { parseArguments } from "./arguments.ts";

const cut = '{"path":"/etc/passwd","mode":[1,{"x":null}]}';

describe("arguments that can be used", () => {
  it.each([
    ["an object", '{"a":1,"b":[true,null,"x"]}', { a: 1, b: [true, null, "x"] }],
    ["spaces around it", ' \r\n\t{"a":1}\n ', { a: 1 }],
    ["nothing (J15)", "", {}],
    ["only spaces (J15)", " \t\r\n", {}],
    ["names that every object inherits (J07)", '{"hasOwnProperty":1}', { hasOwnProperty: 1 }],
    ["a NUL in a text (J13)", String.raw`{"a":"\u0000"}`, { a: "\u0000" }],
    ["a character in two escapes", String.raw`{"a":"\ud83d\ude00"}`, { a: "😀" }],
    ["an escaped path (J23)", String.raw`{"p":"\u002e\u002e\u002f\/"}`, { p: "..//" }],
    ["a number at the edge (J11)", '{"a":9007199254740991}', { a: 9007199254740991 }],
    ["a negative zero (J11)", '{"a":-0}', { a: -0 }],
    ["a type marker (J19)", '{"lc":1,"type":"constructor","id":["x"]}', null],
    ["look-alike keys (J20)", '{"path":1,"pаth":2,"path\u200b":3}', null],
  ])("%s", (_, raw, input) => {
    const expected: unknown = input ?? JSON.parse(raw);

    expect(parseArguments(raw)).toEqual({ input: expected });
  });

  it("a key named then does not make the input something to await (J07)", async () => {
    const { input } = parseArguments('{"then":{"x":1}}');

    expect(await Promise.resolve(input)).toHaveProperty("then.x", 1);
  });

  it("a key is the one that its escapes spell, whatever was read before (J06)", () => {
    const before = parseArguments(String.raw`{"path":"a","\\u0063o":1}`);

    const { input } = parseArguments(String.raw`{"path":"a","\u0063ommand":"ls"}`);

    expect(before.input).toBeDefined();
    expect(input).toStrictEqual({ path: "a", command: "ls" });
  });

  it("a type marker is revived to nothing: the input is plain data (J19)", () => {
    const { input } = parseArguments('{"lc":1,"type":"constructor","id":["a","B"],"kwargs":{}}');

    expect(Object.getPrototypeOf(input)).toBe(Object.prototype);
    expect(Object.keys(input ?? {})).toStrictEqual(["lc", "type", "id", "kwargs"]);
  });
});

describe("arguments that are refused", () => {
  it.each([
    ["J01", '{"a":1', "truncated"],
    ["J01", '{"path":"/etc/pas', "truncated"],
    ["J02", '{"a":1,}', "bad_json"],
    ["J02", "{'a':1}", "bad_json"],
    ["J02", '{"a":1/* c */}', "bad_json"],
    ["J02", "{a:1}", "bad_json"],
    ["J02", '{"a":NaN}', "bad_json"],
    ["J02", '{"a":Infinity}', "bad_json"],
    ["J02", '{"a":0x1}', "bad_json"],
    ["J02", '{"a":01}', "bad_json"],
    ["J02", '{"a":.5}', "bad_json"],
    ["J03", '{"a":1,"a":2}', "duplicate_key"],
    ["J03", '{"a":1,"a":1}', "duplicate_key"],
    ["J03", String.raw`{"a":1,"\u0061":2}`, "duplicate_key"],
    ["J04", '{"__proto__":{"x":1}}', "forbidden_key"],
    ["J05", '{"constructor":{"prototype":{"x":1}}}', "forbidden_key"],
    ["J06", String.raw`{"\u005f\u005fproto\u005f\u005f":{"x":1}}`, "forbidden_key"],
    ["J11", '{"a":1e400}', "inexact_number"],
    ["J11", '{"a":9007199254740993}', "inexact_number"],
    ["J12", String.raw`{"a":"\ud800"}`, "malformed_text"],
    ["J12", '{"\ude00":1}', "malformed_text"],
    ["J14", "null", "not_an_object"],
    ["J14", "[]", "not_an_object"],
    ["J14", '"x"', "not_an_object"],
    ["J14", "5", "not_an_object"],
    ["J14", "true", "not_an_object"],
    ["J16", JSON.stringify('{"a":1}'), "double_encoded"],
    ["J16", JSON.stringify(JSON.stringify('{"a":1}')), "double_encoded"],
    ["J17", '{"a":1} and so on', "trailing_data"],
    ["J17", '{"a":1}{"a":2}', "trailing_data"],
    ["J18", '\uFEFF{"a":1}', "bad_json"],
    ["J18", "\uFEFF", "bad_json"],
  ])("%s: %j is %s", (_, raw, code) => {
    const { input, fault } = parseArguments(raw);

    expect(input).toBeUndefined();
    expect(fault?.code).toBe(code);
  });

  it("J01: every proper prefix of an object is truncated, and none of them is an input", () => {
    const codes = Array.from({ length: cut.length - 1 }, (_, end) =>
      parseArguments(cut.slice(0, end + 1)),
    );

    expect(new Set(codes.map((parsed) => parsed.fault?.code))).toStrictEqual(
      new Set(["truncated"]),
    );
    expect(parseArguments(cut).input).toBeDefined();
  });

  it("J04: prototypes are as they were", () => {
    parseArguments('{"__proto__":{"polluted":1}}');
    parseArguments('{"constructor":{"prototype":{"polluted":1}}}');

    expect("polluted" in {}).toBe(false);
  });

  it("J08: a depth of 10,000 is too deep and exhausts no stack", () => {
    const deep = '{"a":'.repeat(10_000) + "1" + "}".repeat(10_000);

    expect(parseArguments(deep).fault?.code).toBe("too_deep");
  });

  it.each([100, 400, 600, 900])(
    "J08: a depth of %i within the limits is read, also with an escaped key",
    (depth) => {
      const limits = { depth: 1_000, keys: Infinity, length: Infinity };
      const raw = String.raw`{"\u0061":` + "[".repeat(depth) + "]".repeat(depth) + "}";

      expect(parseArguments(raw, limits).input).toHaveProperty("a");
    },
  );

  it("J09: a million keys are too many", () => {
    const keys = Array.from({ length: 1_000_000 }, (_, key) => `"${key}":1`).join();
    const unlimited = { ...defaultJsonLimits, length: Infinity };

    expect(parseArguments(`{${keys}}`).fault?.code).toBe("too_large");
    expect(parseArguments(`{${keys}}`, unlimited).fault?.code).toBe("too_large");
  });

  it("J10: a text of 50 MB is too large", () => {
    const raw = `{"a":"${"x".repeat(50 * 1024 * 1024)}"}`;

    expect(parseArguments(raw).fault).toStrictEqual({
      code: "too_large",
      at: defaultJsonLimits.length,
    });
  });

  it("J22: two megabytes are the limit, and one character more is too large", () => {
    const fill = "x".repeat(defaultJsonLimits.length - '{"a":""}'.length);

    expect(parseArguments(`{"a":"${fill}"}`).input).toBeDefined();
    expect(parseArguments(`{"a":"${fill}x"}`).fault?.code).toBe("too_large");
  });

  it("a fault has its position and its key", () => {
    expect(parseArguments('{"a":1,"a":2}').fault).toStrictEqual({
      code: "duplicate_key",
      at: 7,
      key: "a",
    });
    expect(parseArguments('{"a":1').fault).toStrictEqual({ code: "truncated", at: 6 });
  });
});

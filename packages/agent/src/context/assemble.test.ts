import { itemId, partId } from "@millrace/core/writing";
import type { Item } from "@millrace/core";
import type { Compaction } from "@millrace/core/reading";
import { describe, expect, it } from "vitest";
import { call, item, result, text } from "../testing/transcripts.ts";
import { assemble } from "./assemble.ts";
import { readOutput } from "./read-output.ts";

const said = (...words: readonly string[]): readonly Item[] =>
  words.map((word, at) => item(word, at % 2 === 0 ? "user" : "model", [text(word)]));

const summary = (id: string): Item => item(id, "agent", [text(`${id} in short`)]);

const covering = (id: string, first: string, last: string): Compaction => ({
  itemId: itemId(id),
  first: itemId(first),
  last: itemId(last),
});

const ids = (items: readonly Item[], ...compactions: readonly Compaction[]): string =>
  assemble(items, { compactions })
    .transcript.map(({ id }) => id)
    .join(" ");

describe("summaries", () => {
  it("a summary stands in the place of what it covers, as an item of the user that says what it is", () => {
    const reasoned = item("s", "agent", [
      { kind: "reasoning", id: partId("r"), text: "secret", opaque: "signed" },
      text("a and b in short"),
    ]);
    const items = [...said("a", "b", "c"), reasoned, ...said("d")];

    const { transcript, trimmed, repairs } = assemble(items, {
      compactions: [covering("s", "a", "b")],
    });

    expect(transcript.map(({ id }) => id)).toEqual(["s", "c", "d"]);
    expect(transcript[0]).toEqual({
      id: "s",
      author: "user",
      parts: [
        {
          kind: "text",
          id: "summary",
          text: "What came before this was left out to save room. A summary of it, written to go on by:\n\na and b in short",
        },
      ],
      stop: "end",
    });
    expect({ trimmed, repairs }).toEqual({ trimmed: false, repairs: [] });
  });

  it("a later summary covers an earlier one, whether it names it or what that stands for", () => {
    const items = [...said("a", "b", "c"), summary("s"), ...said("d"), summary("t"), ...said("e")];

    const first = covering("s", "a", "b");
    expect(ids(items, first, covering("t", "s", "d"))).toBe("t e");
    expect(ids(items, first, covering("t", "a", "d"))).toBe("t e");
    expect(ids(items, first, covering("t", "c", "s"))).toBe("s c d t e"); // ends before it begins
  });

  it("two summaries stand beside each other, and a range within a range loses nothing", () => {
    const items = [...said("a", "b", "c", "d"), summary("s"), summary("t")];

    expect(ids(items, covering("s", "a", "b"), covering("t", "d", "d"))).toBe("s c t");
    expect(ids(items, covering("s", "a", "d"), covering("t", "b", "c"))).toBe("s t");
    expect(ids(items, covering("s", "a", "c"), covering("t", "c", "d"))).toBe("s t");
  });

  it.each([
    ["its first item is not there", covering("s", "x", "b")],
    ["its last item is not there", covering("s", "a", "x")],
    ["the summary is not there", covering("x", "a", "b")],
    ["it ends before it begins", covering("s", "b", "a")],
    ["the summary says nothing", covering("silent", "a", "b")],
  ])("a compaction changes nothing if %s", (_, compaction) => {
    const items = [...said("a", "b"), summary("s"), item("silent", "agent", [text(" \n")])];

    expect(assemble(items, { compactions: [compaction] }).transcript).toBe(items);
  });

  it("an answer whose call is covered is left out, and said to be", () => {
    const items = [
      item("m", "model", [call("1")], "tools"),
      item("r", "tool", [result("1", "done")]),
      summary("s"),
    ];

    const { transcript, repairs } = assemble(items, { compactions: [covering("s", "m", "m")] });

    expect(transcript.map(({ id }) => id)).toEqual(["s"]);
    expect(repairs).toEqual([{ code: "result_without_call", itemId: "r", callId: "1" }]);
  });
});

describe("long results", () => {
  const turn = (name: string, output: string): readonly Item[] => [
    item(`m${name}`, "model", [call(name)], "tools"),
    item(`r${name}`, "tool", [result(name, output)]),
  ];
  const shown = (items: readonly Item[], bytes?: number): string => {
    const outputBytes = bytes === undefined ? undefined : (): number => bytes;
    const { transcript } = assemble(items, { compactions: [], outputBytes });
    const part = transcript.at(-1)?.parts[0];
    return part?.kind === "tool_result" ? part.text : "";
  };

  it.each([
    ["ASCII", "x", 1],
    ["three bytes a character", "日", 3],
    ["four bytes a character", "😀", 4],
  ])("a result at its limit is given whole, and one byte more is trimmed: %s", (_, unit, bytes) => {
    const output = unit.repeat(400);

    expect(shown(turn("1", output), 400 * bytes)).toBe(output);

    const less = shown(turn("1", output), 400 * bytes - 1);
    expect(Buffer.byteLength(less)).toBeLessThan(400 * bytes);
    expect(Buffer.byteLength(less)).toBeGreaterThan(400 * bytes - 20);
    expect(less.isWellFormed()).toBe(true);
    expect(less.startsWith(unit)).toBe(true);
    expect(less.endsWith(unit)).toBe(true);
  });

  it("the note says how many bytes are left out and how to read them; the stored item stays", () => {
    const items = turn("call_7", `${"a".repeat(500)}${"b".repeat(500)}`);

    const { transcript, trimmed } = assemble(items, { compactions: [], outputBytes: () => 300 });

    expect(trimmed).toBe(true);
    expect(transcript[1]?.parts[0]).toEqual({
      ...result("call_7", ""),
      text: `${"a".repeat(98)}\n[804 of 1000 bytes are left out here. read_output with {"callId":"call_7","offset":98} reads them.]\n${"b".repeat(98)}`,
    });
    expect(items).toEqual(turn("call_7", `${"a".repeat(500)}${"b".repeat(500)}`));
  });

  it("64 KiB are given where nothing else is said", () => {
    expect(shown(turn("1", "x".repeat(65_536)))).toHaveLength(65_536);
    expect(shown(turn("1", "x".repeat(65_537)))).toContain("bytes are left out here");
  });

  it("a limit smaller than the note gives the note, unless the result is shorter than that", () => {
    expect(shown(turn("1", "x".repeat(500)), 5)).toBe(
      '\n[500 of 500 bytes are left out here. read_output with {"callId":"1","offset":0} reads them.]\n',
    );
    expect(shown(turn("1", "x".repeat(40)), 5)).toBe("x".repeat(40));
  });

  it("results of one call id are told apart, and the earlier note stays as it was", () => {
    const once = turn("1", "a".repeat(500));
    const again = [...once, item("m2", "model", [call("1")], "tools")];
    const twice = [...again, item("r2", "tool", [result("1", "b".repeat(500))])];

    expect(shown(once, 200)).toContain('{"callId":"1",');
    expect(assemble(twice, { compactions: [], outputBytes: () => 200 }).transcript[1]).toEqual(
      assemble(once, { compactions: [], outputBytes: () => 200 }).transcript[1],
    );
    expect(shown(twice, 200)).toContain('{"callId":"1#2",');
    expect(readOutput(twice, { callId: "1", length: 4 })).toContain("aaaa");
    expect(readOutput(twice, { callId: "1#2", length: 4 })).toContain("bbbb");
  });

  it("limits are those of each tool", () => {
    const items = turn("1", "a".repeat(500));
    const asked: string[] = [];

    assemble(items, { compactions: [], outputBytes: ({ tool }) => asked.push(tool) * 1_000 });

    expect(asked).toEqual(["x"]);
  });
});

describe("readOutput", () => {
  const items = [item("r", "tool", [result("1", `${"a".repeat(20_000)}é${"😀".repeat(100)}`)])];

  it("a piece says which bytes it is, of how many, and where the next begins", () => {
    expect(readOutput(items, { callId: "1", offset: 19_999, length: 4 })).toBe(
      "[bytes 19999 to 20002 of 20402; the next offset is 20002]\naé",
    );
    expect(readOutput(items, { callId: "1", offset: 20_398 })).toBe(
      "[bytes 20398 to 20402 of 20402; this is the end]\n😀",
    );
    expect(readOutput(items, { callId: "1" })).toMatch(/^\[bytes 0 to 16384 of 20402; /);
  });

  it("an offset within a character reads it whole, and one behind the end reads nothing", () => {
    expect(readOutput(items, { callId: "1", offset: 20_001, length: 1 })).toBe(
      "[bytes 20000 to 20002 of 20402; the next offset is 20002]\né",
    );
    expect(readOutput(items, { callId: "1", offset: 1e15 })).toBe(
      "[bytes 20402 to 20402 of 20402; this is the end]\n",
    );
  });

  it("a length has its bounds, so each piece goes on and none is too long", () => {
    expect(readOutput(items, { callId: "1", offset: 20_002, length: 1 })).toContain(
      "the next offset is 20006",
    );
    const long = [item("r", "tool", [result("1", "x".repeat(200_000))])];
    expect(readOutput(long, { callId: "1", length: 1e9 })).toContain("bytes 0 to 49152 of 200000");
  });

  it("a result that is not there is said", () => {
    expect(readOutput(items, { callId: "2" })).toContain(
      'There is no tool result with the callId "2"',
    );
  });

  it("a result without text is read by its output", () => {
    const output = { found: [1, 2] };
    const items = [item("r", "tool", [{ ...result("1", ""), output }])];

    expect(readOutput(items, { callId: "1" })).toContain('{"found":[1,2]}');
  });
});

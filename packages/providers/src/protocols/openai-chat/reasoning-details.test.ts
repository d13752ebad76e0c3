import type { Json, JsonObject } from "@millrace/core";
import { describe, expect, test } from "vitest";
import { addDetails, joinDetails, listDetails, visibleText } from "./reasoning-details.ts";

const listOf = (...pieces: readonly Json[]): readonly JsonObject[] =>
  listDetails(pieces.reduce(addPiece, undefined));

function addPiece(
  details: ReturnType<typeof addDetails>,
  piece: Json,
): ReturnType<typeof addDetails> {
  return addDetails(details, [piece]);
}

const text = (said: string, more: JsonObject = {}): JsonObject => ({
  type: "reasoning.text",
  text: said,
  ...more,
});

describe("reasoning details", () => {
  test("pieces of one text become one, with the first word on each fact", () => {
    const list = listOf(
      text("a", { id: null, format: null }),
      text("b", { id: "r1", format: "f", index: 0 }),
      text("c", { id: "r1", format: "g" }),
      { type: "reasoning.text", signature: "s" },
    );

    expect(list).toEqual([text("abc", { id: "r1", format: "f", index: 0, signature: "s" })]);
  });

  test("a signature ends its text", () => {
    const list = listOf(text("a", { signature: "s" }), text("b"));

    expect(list).toEqual([text("a", { signature: "s" }), text("b")]);
  });

  test("another index, id or type is another detail", () => {
    const summary = { type: "reasoning.summary", summary: "d" };
    const list = [text("a", { index: 0 }), text("b", { index: 1 }), summary];

    expect(listOf(...list)).toEqual(list);
    expect(listOf(text("a", { id: "x" }), text("b", { id: "y" }))).toHaveLength(2);
  });

  test("encrypted details are never put together, and unknown ones stay as they are", () => {
    const encrypted = { type: "reasoning.encrypted", data: "abc", id: "r1", index: 0 };
    const unknown = { type: "reasoning.novelty", of: [1] };

    expect(listOf(encrypted, encrypted, unknown, null, "x")).toEqual([
      encrypted,
      encrypted,
      unknown,
    ]);
  });

  test("half a character at the end of a text is mended, and one between two pieces is whole", () => {
    expect(listOf(text("a\ud83d"), text("\ude00b\ud83d"))).toEqual([text("a😀b\ufffd")]);
  });

  test("lists of several parts are one list, in which a late signature finds its text", () => {
    const joined = joinDetails([
      [text("a", { index: 0 })],
      undefined,
      [{ ...text(""), signature: "s" }],
    ]);

    expect(joined).toEqual([text("a", { index: 0, signature: "s" })]);
  });

  test("texts and summaries can be shown, and nothing else", () => {
    const pieces = [
      text("a"),
      { type: "reasoning.summary", summary: "b" },
      { type: "x", text: "c" },
    ];

    expect(visibleText([...pieces, null])).toBe("ab");
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { edit, emptyLine } from "./line-editor.ts";
import type { Edited, Key, Line } from "./line-editor.ts";
import { runs } from "../../../../tests/kit/runs.ts";

const typing = (text: string): readonly Key[] => Array.from(text, (sequence) => ({ sequence }));
const key = (name: string, more: Partial<Key> = {}): Key => ({ name, ...more });
const control = (name: string): Key => ({ name, ctrl: true, sequence: "\u0001" });

function after(keys: readonly Key[], from: Line = emptyLine): Edited {
  return keys.reduce<Edited>((edited, one) => edit(edited.line, one), { line: from });
}

describe("the line", () => {
  it("takes what is typed where the cursor is", () => {
    const { line } = after([
      ...typing("wrld"),
      key("left"),
      key("left"),
      key("left"),
      ...typing("o"),
    ]);

    expect(line).toMatchObject({ text: "world", cursor: 2 });
  });

  it("is given with Enter, and is empty then", () => {
    const entered = after([...typing("hello"), key("return")]);

    expect(entered).toMatchObject({ done: "enter", typed: "hello", line: { text: "", cursor: 0 } });
  });

  it("deletes whole characters, also those of two units", () => {
    expect(after([...typing("a👍"), key("backspace")]).line.text).toBe("a");
    expect(after([...typing("👍b"), key("home"), key("delete")]).line.text).toBe("b");
  });

  it("deletes words and ends", () => {
    expect(after([...typing("one two "), control("w")]).line.text).toBe("one ");
    expect(after([...typing("one two"), control("u")]).line.text).toBe("");
    expect(after([...typing("one"), control("a"), control("k")]).line.text).toBe("");
  });

  it("recalls what was sent, and what was being typed before", () => {
    const { line } = after([...typing("one"), key("return"), ...typing("two"), key("return")]);
    const typed = after(typing("thr"), line).line;

    expect(after([key("up")], typed).line.text).toBe("two");
    expect(after([key("up"), key("up")], typed).line.text).toBe("one");
    expect(after([key("up"), key("up"), key("up")], typed).line.text).toBe("one");
    expect(after([key("up"), key("up"), key("down"), key("down")], typed).line.text).toBe("thr");
  });

  it("takes pasted lines as text and does not send them", () => {
    const pasted = [
      key("paste-start"),
      ...typing("rm -rf /"),
      key("return", { sequence: "\r" }),
      { sequence: "\u001b" },
      ...typing("x"),
      key("paste-end"),
    ];
    const edited = after(pasted);

    expect(edited.done).toBeUndefined();
    expect(edited.line.text).toBe("rm -rf /\nx");
  });

  it("takes a pasted text of a million characters in the time that it is long", () => {
    const keys = [key("paste-start"), ...typing("x".repeat(1_000_000)), key("paste-end")];

    expect(after(keys).line.cursor).toBe(1_000_000);
  }, 30_000);

  it("ignores keys that stand for no text", () => {
    const none = [key("f5", { sequence: "\u001b[15~" }), key("x", { meta: true, sequence: "x" })];

    expect(after([...none, control("q")]).line.text).toBe("");
  });

  it("reports Ctrl-C, Ctrl-D on an empty line, Ctrl-Z and Ctrl-L", () => {
    expect(after([control("c")]).done).toBe("interrupt");
    expect(after([control("d")]).done).toBe("end");
    expect(after([...typing("x"), key("home"), control("d")])).toEqual({
      line: expect.objectContaining({ text: "" }) as Line,
    });
    expect(after([control("z")]).done).toBe("suspend");
    expect(after([control("l")]).done).toBe("redraw");
  });

  it("keeps its cursor between characters, whatever is pressed", () => {
    const times = runs(3_000, 300_000);
    const names = ["left", "right", "up", "down", "home", "end", "backspace", "delete", "return"];
    const any = fc.oneof(
      fc.constantFrom("a", "👍", " ").map((sequence): Key => ({ sequence })),
      fc.constantFrom(...names).map((name) => key(name)),
      fc.constantFrom("a", "e", "u", "k", "w", "d").map(control),
    );
    fc.assert(
      fc.property(fc.array(any, { maxLength: 40 }), (keys) => {
        const { line } = after(keys);

        expect(line.cursor).toBeGreaterThanOrEqual(0);
        expect(line.cursor).toBeLessThanOrEqual(line.text.length);
        expect(line.text.slice(0, line.cursor).isWellFormed()).toBe(true);
      }),
      { numRuns: times },
    );
    console.log(`count: ${times} lines`);
  }, 60_000);
});

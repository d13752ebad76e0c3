import { describe, expect, it } from "vitest";
import { type Edit, type SourceText, applyEdits, findEdits, tokensOf } from "./find-code.ts";

const source: SourceText = {
  file: "packages/core/src/queue.ts",
  text: `
import { List } from "./list.ts";

/** Adds to a queue. */
export function add(queue: Queue, entry: Entry): Queue {
  const last = queue.entries.at(-1); // may be empty
  if (last === undefined) return { ...queue, entries: [entry] };
  return {
    ...queue,
    entries: [...queue.entries, entry],
  };
}

export function remove(queue: Queue, id: string): Queue {
  const { entries } = queue;
  const url = \`http://host/\${id}\`;
  return { entries: entries.filter((each) => each.id !== id && !/["'\`/]+/.test(url)) };
}
`,
};

const edit: Edit = {
  in: "core",
  symbol: "remove",
  find: "entries.filter((each) => each.id !== id",
  replace: "entries.filter((each) => each.id === id && entries.length > 0",
};

const changed: SourceText = {
  ...source,
  text: source.text.replace("!== id", "=== id && entries.length > 0"),
};

/** The source after an edit, as tokens, or why there is none. */
function plant(sources: readonly SourceText[], ...edits: readonly Edit[]): string {
  const found = findEdits(sources, edits);
  if (typeof found === "string") return found;
  return [...applyEdits(found).values()].map(split).join("\n");
}

function split(code: string): string {
  return tokensOf(code)
    .map(({ text }) => text)
    .join(" ");
}

/** The source with words replaced, and the same after the edit. */
function replaced(...pairs: readonly (readonly [string, string])[]) {
  const [before, after] = [source, changed].map(({ text }) =>
    pairs.reduce((result, [from, to]) => result.replaceAll(from, to), text),
  );
  return { before: { ...source, text: before ?? "" }, after: split(after ?? "") };
}

describe("code is found", () => {
  it("in any format", () => {
    const text = source.text.replaceAll(/[()]/g, "\n$&\n").replaceAll("each.id", "each\n.id");
    expect(plant([{ ...source, text }], edit)).toBe(split(changed.text));
  });

  it("whether or not a comma ends a list", () => {
    const ending = {
      in: "core",
      symbol: "add",
      find: "[...queue.entries, entry,]}",
      replace: "[]}",
    };
    expect(plant([source], ending)).toContain("entries : [ ] }");
  });

  it("after its variables were renamed, which renames them in the replacement", () => {
    const { before, after } = replaced(["each", "row"], [" id ", " wanted "], ["id:", "wanted:"]);
    expect(plant([before], edit)).toBe(after);
    expect(after).toContain("( row ) => row . id === wanted && entries . length");
  });

  it("after a variable was renamed that is a property too", () => {
    const { before, after } = replaced(
      ["{ entries }", "{ entries: rows }"],
      ["entries.fil", "rows.fil"],
      ["entries.len", "rows.len"],
    );
    const destructured = {
      ...edit,
      find: `const { entries } = queue`,
      replace: "const { entries } = queue",
    };
    expect(plant([before], destructured, edit)).toBe(after);
  });

  it("after its declaration was renamed", () => {
    const { before, after } = replaced(["function remove", "function without"]);
    expect(plant([before], edit)).toBe(after);
  });

  it("in another file of another package", () => {
    expect(plant([{ ...source, file: "packages/other/src/a/b.ts" }], edit)).toBe(
      split(changed.text),
    );
  });

  it("in the declaration that is named if there are others like it", () => {
    const other = {
      file: "packages/core/src/other.ts",
      text: source.text.replace("remove", "other"),
    };
    expect(plant([other, source], edit)).toBe(split(changed.text));
  });

  it("where the fewest names differ", () => {
    const text = `export function remove() {\n  if (a.b) return c;\n  if (a.d) return c;\n}\n`;
    const fragment = {
      in: "core",
      symbol: "remove",
      find: "if (a.d) return c",
      replace: "return c",
    };
    expect(plant([{ ...source, text }], fragment)).toBe(split(text.replace("if (a.d) ", "")));
  });
});

describe("code is not found", () => {
  it("where two places are alike", () => {
    const twice = { ...source, text: source.text + source.text };
    expect(plant([twice], edit)).toMatch(/^more than one place is like that of core remove/);
  });

  it("where a keyword, a literal or an operator differs", () => {
    const find = "const last = queue.entries.at(-1)";
    for (const [from, to] of [
      ["const last", "let last"],
      ["last =", "last ??="],
      ["at(-1)", "at(-2)"],
    ] as const) {
      const { before } = replaced([from, to]);
      expect(plant([before], { ...edit, symbol: "add", find })).toMatch(/^no place/);
    }
  });

  it("where one name would stand for two", () => {
    const { before } = replaced(["each.id", "row.id"]);
    expect(plant([before], edit)).toMatch(/^no place/);
  });
});

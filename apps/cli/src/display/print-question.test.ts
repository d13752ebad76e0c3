import type { JsonObject, ViewApproval } from "@millrace/core";
import { expect, it } from "vitest";
import { acting, forgingInputs } from "../../../../tests/kit/forging-inputs.ts";
import { Vt } from "../testing/vt.ts";
import { emptyLine } from "./line-editor.ts";
import { NarrationPrinter } from "./narration-printer.ts";
import { printQuestion } from "./print-question.ts";
import { Screen } from "./screen.ts";
import { verbatimMark } from "./text-output.ts";
import { textWidth } from "./wrap.ts";

/** The rows of a terminal after a text and a question. Throws for a control character of the input. */
function rowsOf(asked: Pick<ViewApproval, "input" | "parsed">, columns: number): readonly string[] {
  const screen = new Screen(() => ({ columns, rows: 24 }), false);
  const vt = new Vt(columns);
  const printer = new NarrationPrinter(screen, { live: true, color: false });
  screen.line("before", "plain");
  const ids = { id: "q" as never, callId: "c" as never, tool: "shell", hash: "h" };
  printQuestion({ ...ids, ...asked }, { printer, output: screen });
  screen.line("after", "plain");
  vt.write(screen.paint({ rows: [], prompt: "", line: emptyLine }));
  vt.write(screen.leave());
  return vt.text().split("\n");
}

function unescaped(rows: readonly string[]): unknown {
  // A row's blanks at its end are not on a terminal; within the text they were not before a border.
  return JSON.parse(rows.map((row) => row.slice(verbatimMark.length)).join(""));
}

it("350 forging inputs stay in the rows of their question, and read back as what would run", () => {
  for (const input of forgingInputs) {
    const [before, title = "", ...rows] = rowsOf({ input }, 1_000_000);

    expect(before).toBe("before");
    expect(title).toMatch(
      /^► may this run\? shell(?: \(\d+ characters(?:, \d+ of them not ASCII)?\))?$/,
    );
    expect(rows.pop()).toBe("after");
    expect(rows.every((row) => row.startsWith(verbatimMark))).toBe(true);
    expect(rows.some((row) => acting.test(row.slice(verbatimMark.length)))).toBe(false);
    expect(unescaped(rows)).toEqual(input);
  }
});

it("at 40 columns no row of a question begins like a line of the program", () => {
  for (const input of forgingInputs) {
    const [before, title = "", ...rest] = rowsOf({ input }, 40);
    const rows = rest.slice(
      rest.findIndex((row) => row.startsWith(verbatimMark)),
      -1,
    );

    expect(before).toBe("before");
    expect(title).toMatch(/^► may this run\? shell/);
    expect(rows.every((row) => row.startsWith(verbatimMark) && textWidth(row) <= 40)).toBe(true);
  }
});

it("where the schema changes the input, both are shown", () => {
  const input: JsonObject = { cents: 5 };

  expect(rowsOf({ input, parsed: { cents: 500 } }, 80)).toEqual([
    "before",
    "► may this run? shell",
    `${verbatimMark}{"cents":5}`,
    "► it runs as",
    `${verbatimMark}{"cents":500}`,
    "after",
  ]);
});

it("the lines above both have the counts of what is long or not ASCII", () => {
  const long = "x".repeat(300);
  const rows = rowsOf({ input: { to: "p\u0430y" }, parsed: { to: long } }, 1_000);

  expect(rows.filter((row) => row.startsWith("►"))).toEqual([
    "► may this run? shell (12 characters, 1 of them not ASCII)",
    "► it runs as (309 characters)",
  ]);
});

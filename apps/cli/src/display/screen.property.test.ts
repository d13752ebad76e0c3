import fc from "fast-check";
import { expect, it } from "vitest";
import { emptyLine, withText } from "./line-editor.ts";
import { Screen } from "./screen.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { Vt } from "../testing/vt.ts";

const text = fc.string({ unit: fc.constantFrom("a", "b", " ", "word", "\n"), maxLength: 60 });
const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("text" as const), text }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("line" as const),
      text: fc.stringMatching(/^[a-z ]{1,90}$/),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("paint" as const),
      typed: fc.stringMatching(/^[a-z ]{0,30}$/),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("resize" as const),
      columns: fc.integer({ min: 20, max: 60 }),
    }),
  },
);

/** Lines as they are copied: without blanks at their ends. */
function lines(printed: string): string {
  return printed
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .trimEnd();
}

it("however often it is painted and resized, what is copied from it is what was printed, without a line feed more", () => {
  const times = runs(2_000, 200_000);
  fc.assert(
    fc.property(
      fc.array(action, { maxLength: 30 }),
      fc.integer({ min: 20, max: 60 }),
      (actions, begin) => {
        let columns = begin;
        const screen = new Screen(() => ({ columns, rows: 24 }), false);
        const vt = new Vt(columns);
        const below = { rows: [{ text: "a tool at work", style: "note" as const }], prompt: "> " };
        let printed = "";
        const end = (): void =>
          void (printed += printed === "" || printed.endsWith("\n") ? "" : "\n");
        for (const one of actions) {
          if (one.do === "text") {
            screen.text(one.text, "plain");
            printed += one.text;
          } else if (one.do === "line") {
            screen.line(one.text, "plain");
            end();
            printed += `${one.text}\n`;
          } else if (one.do === "resize") {
            vt.resize(one.columns);
            columns = one.columns;
          } else vt.write(screen.paint({ ...below, line: withText(emptyLine, one.typed) }));
        }

        vt.write(screen.paint({ ...below, line: emptyLine }));
        end();
        expect(vt.text()).toBe(lines(`${printed}a tool at work\n> `));
        expect(vt.width()).toBeLessThanOrEqual(columns);

        vt.write(screen.leave());
        expect(vt.text()).toBe(lines(printed));
      },
    ),
    { numRuns: times },
  );
  console.log(`count: ${times} screens`);
}, 120_000);

it("a row with a character of uncertain width is ended before the terminal would wrap it", () => {
  const screen = new Screen(() => ({ columns: 20, rows: 24 }), false);
  const footer = { rows: [], prompt: "> ", line: emptyLine };

  screen.text("👩‍🔬 a scientist and her work", "plain");
  const bytes = screen.paint(footer);

  expect(bytes).toMatch(/^👩‍🔬 a scientist an\r\nd her work\r\n> /);
});

it("shows the part of a long line that the cursor is in", () => {
  const screen = new Screen(() => ({ columns: 20, rows: 24 }), false);
  const vt = new Vt(20);

  vt.write(
    screen.paint({ rows: [], prompt: "> ", line: withText(emptyLine, "0123456789".repeat(9)) }),
  );

  expect(vt.text()).toBe("> 4567890123456789");
});

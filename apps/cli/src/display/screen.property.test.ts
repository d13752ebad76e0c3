import fc from "fast-check";
import { expect, it } from "vitest";
import { emptyLine, withText } from "./line-editor.ts";
import { Screen } from "./screen.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { Vt } from "../testing/vt.ts";
import { wrapText } from "./wrap.ts";

const text = fc.string({ unit: fc.constantFrom("a", "b", " ", "word", "\n"), maxLength: 60 });
const action = fc.oneof(
  fc.record({ do: fc.constant("text" as const), text }),
  fc.record({ do: fc.constant("line" as const), text: fc.stringMatching(/^[a-z ]{1,50}$/) }),
  fc.record({ do: fc.constant("paint" as const), typed: fc.stringMatching(/^[a-z ]{0,30}$/) }),
);

it("however often it is painted, what is finished is there once, in order, and above what is live", () => {
  const times = runs(2_000, 200_000);
  fc.assert(
    fc.property(
      fc.array(action, { maxLength: 30 }),
      fc.integer({ min: 20, max: 60 }),
      (actions, columns) => {
        const screen = new Screen(() => ({ columns, rows: 24 }), false);
        const vt = new Vt();
        const below = { rows: [{ text: "a tool at work", style: "note" as const }], prompt: "> " };
        let open = "";
        const finished: string[] = [];
        const end = (): void => {
          finished.push(...wrapText(open, columns - 1));
          open = "";
        };
        for (const one of actions) {
          if (one.do === "text") {
            screen.text(one.text, "plain");
            open += one.text;
          } else if (one.do === "line") {
            end();
            screen.line(one.text, "plain");
            const [first = "", ...rest] = wrapText(one.text, columns - 1);
            const more = wrapText(rest.join(" "), columns - 3).map((row) => `  ${row}`);
            finished.push(first, ...more);
          } else vt.write(screen.paint({ ...below, line: withText(emptyLine, one.typed) }));
        }

        vt.write(screen.paint({ ...below, line: emptyLine }));
        const live = wrapText(open, columns - 1);
        const expected = [...finished, ...live, "a tool at work", "> "];
        expect(vt.text()).toBe(
          expected
            .map((row) => row.trimEnd())
            .join("\n")
            .trimEnd(),
        );

        end();
        vt.write(screen.leave());
        expect(vt.text()).toBe(
          finished
            .map((row) => row.trimEnd())
            .join("\n")
            .trimEnd(),
        );
      },
    ),
    { numRuns: times },
  );
  console.log(`count: ${times} screens`);
}, 120_000);

it("shows the part of a long line that the cursor is in", () => {
  const screen = new Screen(() => ({ columns: 20, rows: 24 }), false);
  const vt = new Vt();

  vt.write(
    screen.paint({ rows: [], prompt: "> ", line: withText(emptyLine, "0123456789".repeat(9)) }),
  );

  expect(vt.text()).toBe("> 4567890123456789");
});

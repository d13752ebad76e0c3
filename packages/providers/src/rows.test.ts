import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { scenariosOf } from "./testing/fixtures.ts";

/** Rows of the tables of vendors' quirks and of bad input, by the letter and the last number. */
const tables: readonly (readonly [letter: string, last: number, digits: 1 | 2])[] = [
  ["C", 31, 1],
  ["R", 15, 1],
  ["A", 23, 1],
  ["G", 17, 1],
  ["B", 13, 1],
  ["S", 58, 2],
  ["J", 23, 2],
  ["O", 30, 2],
  ["A", 23, 2],
  ["R", 11, 2],
  ["N", 9, 2],
];

/** Rules for all readers of server-sent events, and the rows of bad input for each of them. */
const transport: Readonly<Record<string, readonly string[]>> = {
  S1: ["S05", "S06", "S07"],
  S2: ["S02", "S03", "S21", "S22"],
  S3: ["S08", "S09", "S10", "S12", "S16", "S19"],
  S4: ["S15"],
  S5: ["S47"],
  S6: ["S41", "S49"],
  S7: ["S01", "S33", "S34", "S35"],
  S8: ["S43", "S44", "S45"],
  S9: ["S28", "S52"],
  S11: ["S11", "S29"],
};

/** Two tables number their rows with R; where the numbers collide, one has a prefix. */
function rowName(letter: string, number: number, digits: number): string {
  const name = letter + String(number).padStart(digits, "0");
  return letter === "R" && digits === 2 && number >= 10 ? `bad:${name}` : name;
}

const protocols = [
  "openai-chat",
  "openai-responses",
  "anthropic-messages",
  "gemini",
  "bedrock-converse",
];

function rowsShown(): ReadonlySet<string> {
  const top = fileURLToPath(new URL("../..", import.meta.url));
  const files = [
    ...globSync("providers/src/**/*.test.ts", { cwd: top }),
    ...globSync("conformance/vectors/*.json", { cwd: top }),
    "core/src/content/arguments.test.ts",
  ].filter((file) => !file.endsWith("rows.test.ts"));
  const words = files.flatMap((file) =>
    (readFileSync(`${top}/${file}`, "utf8").match(/"[^"\n]*\b[A-Z]\d\d\b[^"\n]*"/g) ?? []).flatMap(
      (title) => title.match(/\b[A-Z]\d\d\b/g) ?? [],
    ),
  );
  return new Set([...words, ...protocols.flatMap(scenariosOf).flatMap(({ rows }) => rows)]);
}

test("every row of the tables is shown by a fixture, a vector or a test", () => {
  const shown = rowsShown();
  const wanted = tables.flatMap(([letter, last, digits]) =>
    Array.from({ length: last }, (_, at) => rowName(letter, at + 1, digits)),
  );
  const missing = [...wanted, ...Object.values(transport).flat()].filter((row) => !shown.has(row));
  expect(missing).toEqual([]);
  console.log(`count: rows, ${wanted.length} rows of the tables shown, 0 failures`);
});

import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { defaultJsonLimits } from "../json.ts";
import { parseJsonText } from "../parse-json.ts";
import { scanJson } from "../scan-json.ts";
import { damagedText, jsonText, objectText } from "../testing/json-texts.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { JsonPreview } from "./json-preview.ts";

vi.setConfig({ testTimeout: patience });

const times = runs(2_000, 200_000);

/** The preview of a text that came in pieces and was read after each. */
function previewed(pieces: readonly string[]): unknown {
  const preview = new JsonPreview();
  for (const piece of pieces) {
    preview.feed(piece);
    void preview.value;
  }
  return preview.value;
}

/** The same the simple way: what is incomplete is cut off, what is open is closed, and the rest is parsed. */
function reference(text: string): unknown {
  const open: string[] = [];
  let start = -1; // of the string that the text ends in
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charAt(at);
    if (start >= 0) {
      if (letter === "\\") at += 1;
      else if (letter === '"') start = -1;
    } else if (letter === '"') start = at;
    else if (letter === "{") open.unshift("}");
    else if (letter === "[") open.unshift("]");
    else if (letter === "}" || letter === "]") open.shift();
  }
  const isName = open[0] === "}" && /[{,]\s*$/.test(text.slice(0, Math.max(0, start)));
  let rest = text;
  if (start >= 0 && isName) rest = text.slice(0, start);
  else if (start >= 0) rest = `${text.slice(0, start)}${wholeString(text.slice(start))}"`;
  else rest = text.replace(/[-+.\w]+$/, "");
  rest = rest.replace(/\s+$/, "");
  if (start < 0 || isName) {
    // A name without a value, then a comma without what it announces.
    rest = rest.replace(/"(?:[^"\\]|\\[^])*"\s*:$/, "").replace(/,?\s*$/, "");
    if (open[0] === "}") rest = rest.replace(/([{,]\s*)"(?:[^"\\]|\\[^])*"$/, "$1");
    rest = rest.replace(/,?\s*$/, "");
  }
  return rest === "" ? undefined : parseJsonText(rest + open.join(""));
}

/** A string's text without half an escape or half a character at its end. */
function wholeString(text: string): string {
  const escapes = /(?<=(?:^|[^\\])(?:\\\\)*)\\(?:u[0-9a-f]{0,3})?$/i;
  const half = /(?:[\ud800-\udbff]|(?<=(?:^|[^\\])(?:\\\\)*)\\ud[89ab][0-9a-f]{2})$/i;
  return text.replace(escapes, "").replace(half, "");
}

/** JSON of any kind, without the names that no tool takes. Of a doubled name the last one counts. */
const accepted = fc
  .oneof(
    objectText,
    jsonText.map((text) => `[${text}]`),
  )
  .filter((text) => !/__proto__|prototype/.test(JSON.stringify(parseJsonText(text))));

it("of every beginning of a JSON text it shows what closing and parsing it shows, however it was cut", () => {
  let count = 0;
  fc.assert(
    fc.property(accepted, fc.array(fc.nat(400), { maxLength: 6 }), (text, cuts) => {
      for (let end = 0; end <= text.length; end += 1) {
        const beginning = text.slice(0, end);
        const places = [0, ...cuts.map((cut) => cut % (end + 1)), end].toSorted((a, b) => a - b);
        const pieces = places.map((place, at) => beginning.slice(place, places[at + 1] ?? end));
        count += 1;
        const expected = reference(beginning);
        if (isDeepStrictEqual(previewed(pieces), expected)) continue;
        expect({ beginning, value: previewed(pieces) }).toEqual({ beginning, value: expected });
      }
      expect(previewed(Array.from(text))).toEqual(parseJsonText(text));
    }),
    { numRuns: times },
  );
  console.log(`count: previews, ${times} texts, ${count} beginnings`);
});

it("what is not JSON is shown up to there, whatever comes after it", () => {
  fc.assert(
    fc.property(damagedText, fc.string(), (text, more) => {
      const fault = scanJson(text, { ...defaultJsonLimits, length: Infinity });
      if (fault?.code !== "bad_json" && fault?.code !== "forbidden_key") return;
      const before = text.slice(0, fault.at);
      // A number may be followed by the wrong mark, and is complete then.
      const shown = [previewed([before]), previewed([before, " "])];
      expect(shown).toContainEqual(previewed(Array.from(text + more)));
    }),
    { numRuns: times },
  );
});

it("a value that was read never changes, and what did not change is the same object", () => {
  fc.assert(
    fc.property(accepted, (text) => {
      const preview = new JsonPreview();
      const read: { readonly value: unknown; readonly text: string }[] = [];
      for (const letter of text) {
        preview.feed(letter);
        const { value } = preview;
        read.push({ value, text: JSON.stringify(value) });
        if (preview.value !== value) throw new Error(`it is another object after ${letter}`);
      }
      expect(read.map(({ value }) => JSON.stringify(value))).toEqual(read.map((each) => each.text));
    }),
    { numRuns: times },
  );
});

it("rows of a list that are complete stay the same objects while more of them come", () => {
  const preview = new JsonPreview();
  preview.feed('{"rows":[{"name":"one"},{"name":"tw');
  const before = preview.value as { rows: readonly object[] };
  preview.feed("o");
  const after = preview.value as { rows: readonly object[] };

  expect(after).toEqual({ rows: [{ name: "one" }, { name: "two" }] });
  expect(before).toEqual({ rows: [{ name: "one" }, { name: "tw" }] });
  expect(after.rows[0]).toBe(before.rows[0]);
  expect(after.rows[1]).not.toBe(before.rows[1]);
});

it("text that nests too deep is shown as deep as a tool would take it", () => {
  const preview = new JsonPreview();
  preview.feed("[".repeat(100_000));
  expect(JSON.stringify(preview.value)).toBe("[".repeat(64) + "]".repeat(64));
});

import fc from "fast-check";
import { expect, it } from "vitest";
import { acting, forgingInputs } from "../../../../tests/kit/forging-inputs.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { parseJsonText } from "../parse-json.ts";
import { showJson, showJsonStart, showQuestion } from "./show-question.ts";

const forged = forgingInputs.flatMap((input) => Object.values(input));
const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...forged.filter((value) => typeof value === "string")),
    fc.string({ maxLength: 2 }),
    fc.string({ unit: "binary", maxLength: 2 }),
  ),
  maxLength: 8,
});
const input = fc.dictionary(
  text.filter((key) => key !== "__proto__"),
  fc.oneof(text, fc.integer(), fc.array(text)),
);

it("what is shown reads back as the same input, and hides nothing", () => {
  const times = runs(5_000, 500_000);
  fc.assert(
    fc.property(input, (given) => {
      const shown = showJson(given);

      expect(parseJsonText(shown)).toEqual(given);
      expect(shown).not.toMatch(acting);
      expect(shown).not.toMatch(/ {2}/);
    }),
    { numRuns: times },
  );
  console.log(`count: ${times} inputs`);
}, 120_000);

it("350 forging inputs are shown with nothing in them that acts", () => {
  expect(forgingInputs).toHaveLength(350);
  for (const given of forgingInputs) {
    const { input: shown } = showQuestion({ tool: "shell", input: given });

    expect(shown.text).not.toMatch(acting);
    expect(parseJsonText(shown.text)).toEqual(given);
  }
});

it("what is shown is never shortened", () => {
  const command = `${"x".repeat(100_000)} && echo the point`;
  const { input: shown } = showQuestion({ tool: "shell", input: { command } });

  expect(shown.text).toBe(`{"command":"${command}"}`);
  expect(shown.counts).toBe("(100032 characters)");
});

it("words of all scripts that are written from left to right stay readable", () => {
  const words = "Grüße, Ελλάδα, Москва, 東京, 서울, नमस्ते, ไทย, €5, 😀";

  expect(showJson({ words })).toBe(`{"words":"${words}"}`);
});

it("marks that overlay what is no letter, or pile up on one, are escaped", () => {
  expect(showJson(["1\u0338", "\u20dd", "=\u0338"])).toBe(
    String.raw`["1\u0338","\u20dd","=\u0338"]`,
  );
  expect(showJson("a\u0301\u0301\u0301\u0301\u0301")).toBe(
    `"a\u0301\u0301\u0301${String.raw`\u0301\u0301`}"`,
  );
});

it("counts name the characters that are not ASCII, also those that look like it", () => {
  const { input: shown } = showQuestion({ tool: "open", input: { url: "p\u0430ypal.com" } });

  expect(shown).toEqual({
    text: '{"url":"pаypal.com"}',
    counts: "(20 characters, 1 of them not ASCII)",
  });
});

it("both what was sent and what runs are shown, where they differ", () => {
  expect(showQuestion({ tool: "pay", input: { cents: 5 }, parsed: { cents: 500 } })).toEqual({
    tool: "pay",
    input: { text: '{"cents":5}', counts: "" },
    parsed: { text: '{"cents":500}', counts: "" },
  });
});

it("a name that no tool can have is quoted and escaped", () => {
  expect(showQuestion({ tool: "a\u202eb\n", input: {} }).tool).toBe('"a\\u202eb\\n"');
});

it("the start of an input ends with the number of characters left out, and within no escape", () => {
  fc.assert(
    fc.property(input, fc.integer({ min: 1, max: 60 }), (given, length) => {
      const whole = showJson(given);
      const start = showJsonStart(given, length);
      const [, kept = start, left = "0"] = /^(.*)… \((\d+) more characters\)$/s.exec(start) ?? [];

      expect(whole.startsWith(kept)).toBe(true);
      expect(kept.length + Number(left)).toBe(whole.length);
      expect(whole.length > length).toBe(start !== whole);
      expect(kept.isWellFormed()).toBe(true);
      expect(kept.replaceAll(/\\(?:u[0-9a-f]{4}|[^u])/g, "")).not.toContain("\\");
    }),
    { numRuns: runs(1_000, 200_000) },
  );
});

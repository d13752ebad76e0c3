import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../../../tests/kit/runs.ts";
import { Redactor } from "./redactor.ts";
import { formsOf } from "./forms.ts";

const numRuns = runs(1_000, 200_000);

const secret = fc.oneof(
  fc.stringMatching(/^[-_A-Za-z0-9+/=.~]{8,80}$/),
  fc.string({ unit: "grapheme", minLength: 8, maxLength: 40 }),
);

/** Texts that are near to secrets: pieces of them, repeated and joined. */
function textAround(secrets: readonly string[]): fc.Arbitrary<string> {
  const piece = fc
    .tuple(fc.constantFrom(...secrets.flatMap(formsOf)), fc.nat(100), fc.nat(100))
    .map(([form, from, length]) => form.slice(from % form.length, (from % form.length) + length));
  const whole = fc.constantFrom(...secrets.flatMap(formsOf));
  return fc
    .array(fc.oneof(piece, whole, fc.string({ maxLength: 20 })), { maxLength: 8 })
    .map((pieces) => pieces.join(""));
}

const scene = fc
  .array(secret, { minLength: 1, maxLength: 4 })
  .chain((secrets) => fc.tuple(fc.constant(secrets), textAround(secrets)));

function endsInBeginning(text: string, form: string): boolean {
  return form.split("").some((_, at) => at >= 8 && text.endsWith(form.slice(0, at)));
}

function redactorOf(secrets: readonly string[]): Redactor {
  const redactor = new Redactor();
  for (const each of secrets) redactor.add(each);
  return redactor;
}

test("no form of a secret is left, and a text without one is the same", () => {
  let count = 0;
  fc.assert(
    fc.property(scene, ([secrets, text]) => {
      count += 1;
      const forms = secrets.flatMap(formsOf);
      const clean = redactorOf(secrets).redact(text);

      // The replacement itself may complete a secret that is made of its letters; none is here.
      for (const form of forms) expect(clean.includes(form)).toBe(false);
      const isCut = forms.some((form) => endsInBeginning(text, form));
      if (!forms.some((form) => text.includes(form)) && !isCut) expect(clean).toBe(text);
    }),
    { numRuns },
  );
  console.log(`count: redactor texts ${count}`);
});

test("the secrets that are found are those that the text contains in some form", () => {
  let count = 0;
  fc.assert(
    fc.property(scene, ([secrets, text]) => {
      count += 1;
      const found = redactorOf(secrets).find(text);

      const expected = secrets.filter((each) => formsOf(each).some((form) => text.includes(form)));
      expect([...found].toSorted()).toEqual([...new Set(expected)].toSorted());
    }),
    { numRuns },
  );
  console.log(`count: redactor finds ${count}`);
});

test("base64 of a text holds a form of the secret in it, wherever the secret stands", () => {
  let count = 0;
  fc.assert(
    fc.property(secret, fc.string(), fc.string(), (value, before, after) => {
      count += 1;
      const bytes = Buffer.from(`${before}${value.toWellFormed()}${after}`);
      const redactor = redactorOf([value]);

      expect(redactor.find(bytes.toString("base64")).size).toBe(1);
      expect(redactor.find(bytes.toString("base64url")).size).toBe(1);
      expect(redactor.find(bytes.toString("hex")).size).toBe(1);
    }),
    { numRuns },
  );
  console.log(`count: redactor alignments ${count}`);
});

import fc from "fast-check";

// JSON texts as people and models write them: odd spacing, escapes, spellings of numbers, doubled
// keys. What JSON.stringify writes is too clean to find out what a scanner is worth.

const space = fc.constantFrom("", "", "", " ", "\n", "\t\r\n");
const letters = String.raw`a|b|0| |é|😀|{|]|:|,|\n|\"|\\|\/|\u0041|\u0000|\ud83d\ude00|\ud83d|\uDE00`;
const stringText = fc
  .array(fc.constantFrom(...letters.split("|"), "\ud83d", "\ude00", "\u2028", "\u007f"), {
    maxLength: 4,
  })
  .map((pieces) => `"${pieces.join("")}"`);

const oddKeys = String.raw`__proto__|\u005f_proto__|constructor|prototype|toString|then|k0|\u006b0|`;
const keyText = fc.oneof(
  { weight: 16, arbitrary: fc.nat(400).map((key) => `"k${key}"`) },
  { weight: 4, arbitrary: stringText },
  { weight: 1, arbitrary: fc.constantFrom(...oddKeys.split("|")).map((key) => `"${key}"`) },
);

const plainNumbers =
  "0 -0 -0.0e-0 1E+5 1e-400 0.1 9007199254740991 12345678901234567890e-5 0e9999999999 1.5e300";
const inexactNumbers = "1e400 -1e999 9007199254740993 -9007199254740992 12345678901234567890.5";
const numberText = fc.oneof(
  { weight: 8, arbitrary: fc.integer().map(String) },
  {
    weight: 4,
    arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  },
  { weight: 2, arbitrary: fc.constantFrom(...plainNumbers.split(" ")) },
  { weight: 1, arbitrary: fc.constantFrom(...inexactNumbers.split(" ")) },
);

const texts = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small", withCrossShrink: true },
    fc.constantFrom("true", "false", "null"),
    numberText,
    stringText,
    fc
      .tuple(space, fc.array(fc.tuple(tie("value"), space), { maxLength: 3 }))
      .map(([lead, rows]) => `[${lead}${rows.map((row) => row.join("")).join(",")}]`),
    tie("object"),
  ),
  object: fc
    .tuple(space, fc.array(fc.tuple(space, keyText, space, tie("value"), space), { maxLength: 3 }))
    .map(([lead, rows]) => {
      const fields = rows.map(([before, key, between, value, after]) =>
        [before, key, between, ":", value, after].join(""),
      );
      return `{${lead}${fields.join(",")}}`;
    }),
}));

/** Any JSON text. Some are refused by our rules: doubled or forbidden keys, inexact numbers, half characters. */
export const jsonText: fc.Arbitrary<string> = texts.value;
export const objectText: fc.Arbitrary<string> = texts.object;

const damage = fc.record({
  at: fc.nat(60),
  change: fc.constantFrom("delete", "insert", "swap", "replace", "double", "cut"),
  letter: fc.constantFrom(
    ..."{}[]\",:\\0123456789eE+-.truefalsn \n\t'/*u\u0000\u001f\uFEFF\ud800\u00a0".split(""),
  ),
});
type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;

/** A JSON text with one to three letters lost, added, exchanged or doubled, or cut short. */
export const damagedText: fc.Arbitrary<string> = fc
  .tuple(jsonText, fc.array(damage, { minLength: 1, maxLength: 3 }))
  .map(([text, damages]) => damages.reduce(inflict, text));

function inflict(text: string, { at, change, letter }: Damage): string {
  const place = text.length === 0 ? 0 : at % text.length;
  const before = text.slice(0, place);
  const here = text.slice(place, place + 1);
  const after = text.slice(place + 1);
  switch (change) {
    case "delete":
      return before + after;
    case "insert":
      return before + letter + here + after;
    case "swap":
      return before + after.slice(0, 1) + here + after.slice(1);
    case "replace":
      return before + letter + after;
    case "double":
      return before + here + here + after;
    case "cut":
      return before;
  }
}

import { isDeepStrictEqual } from "node:util";
import { parseJsonText } from "@millrace/core/json";
import { expect, test } from "vitest";
import { createRandom } from "../serve/random.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { TemplateReader } from "./template.ts";

type Read = { readonly value: unknown } | { readonly error: true };

function read(parse: (text: string) => unknown, text: string): Read {
  try {
    return { value: parse(text) };
  } catch {
    return { error: true };
  }
}

/** Contents of strings that a template could get wrong. */
const contents = [
  "",
  "a",
  " the",
  "\\n",
  '\\"',
  "\\\\",
  "\\u0041",
  "\\ud83d\\ude00",
  "\u{1f600}",
  "\u6f22",
  "}",
  "]}",
  ",",
  ":",
  '","b":"',
  "\\",
  "\0",
  "\t",
  "\u2063hole 0\u2063",
  "\\u2063hole 0\\u2063",
  "\u2063hole 1\u2063",
  "12",
  "-0",
  "a".repeat(40),
];
const numbers = [
  "0",
  "1",
  "7",
  "12",
  "007",
  "-1",
  "-0",
  "1.5",
  "1e3",
  "12345678901234567890",
  "999999999999999",
  "x",
  "",
];
const shapes = [
  '{"id":"x","choices":[{"index":#,"delta":{"content":"@"},"finish_reason":null}]}',
  '{"type":"t","sequence_number":#,"delta":"@","obfuscation":"@"}',
  '{"a":"@","a":"@","b":#}',
  '{"@":"@","n":#}',
  '{"__proto__":"@","constructor":{"prototype":"@"}}',
  '{"\\u0061":"@","a\\nb":"@","list":["@",#,["@"]]}',
  ' { "a" : "@" , "n" : # } ',
  '{"a":"@","b":"\u2063hole 0\u2063"}',
  '["@",#]',
  '"@"',
  '{"a":#.5,"b":-#,"c":1e#}',
  '{"a":"@"',
  '{"a":"@"}@',
  '{"a":#}#',
];

/** A text of a shape, with each place filled with a new value or, mostly, the earlier one. */
function write(shape: string, random: () => number, steady: number): string {
  const pick = (list: readonly string[]): string =>
    random() < steady ? (list[1] as string) : (list[Math.floor(random() * list.length)] as string);
  return shape.replaceAll(/[@#]/g, (place) => pick(place === "@" ? contents : numbers));
}

test("a template gives what the parser gives, for texts of all shapes, in any order", () => {
  const random = createRandom(11);
  const streams = runs(4_000, 400_000);
  let texts = 0;
  for (let stream = 0; stream < streams; stream += 1) {
    const reader = new TemplateReader();
    const favourites = [0, 1].map(() => shapes[Math.floor(random() * shapes.length)] as string);
    const steady = random();
    for (let at = 0; at < 50; at += 1) {
      const shape = favourites[random() < 0.8 ? 0 : 1] as string;
      const text = write(shape, random, steady);
      texts += 1;
      const found = read((given) => reader.read(given), text);
      const expected = read(parseJsonText, text);
      if (!isDeepStrictEqual(found, expected)) expect(found, text).toEqual(expected);
    }
  }
  console.log(`count: template, ${texts} texts read as the parser reads them, 0 failures`);
});

test("a template is found, and its values share only what is the same in all", () => {
  const reader = new TemplateReader();
  const texts = ["a", "b", "c", "d"].map((text) => `{"list":[{"text":"${text}"}],"same":{"x":1}}`);
  const values = texts.map((text) => reader.read(text) as { list: object; same: object });
  expect(values).toEqual(texts.map((text) => parseJsonText(text)));
  expect(values[3]?.same).toBe(values[2]?.same);
  expect(values[3]?.list).not.toBe(values[2]?.list);
});

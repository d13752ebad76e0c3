import type { Json, JsonObject } from "@millrace/core";
import type { Random } from "../../../../../tests/kit/random.ts";

interface Spelled {
  readonly value: Json;
  readonly text: string;
}

const numbers: readonly Spelled[] = [
  ...[0, 1, -1, 7, 42, 1_000, 0.5, -273.15, 9_007_199_254_740_991].map((value) => {
    return { value, text: String(value) };
  }),
  { value: 1_000, text: "1e3" },
  { value: 150, text: "1.50E+2" },
  { value: -0.005, text: "-0.5e-2" },
];
const yes: Spelled = { value: true, text: "true" };
const no: Spelled = { value: false, text: "false" };
const keys = ["a", "path", "old text", "日本", "x-1", "then", "type", "delta", "🙂", "a.b", "q'"];
const blanks = ["", "", "", " ", "  ", "\n", "\t", "\r\n  "];

/** A call's arguments: the text as a model writes it, and its value. */
export function argumentsOf(
  random: Random,
  textOf: (random: Random) => string,
): { readonly raw: string; readonly input: JsonObject } {
  if (random.chance(0.08)) return { raw: "", input: {} };
  const blank = random.chance(0.6) ? "" : undefined;
  const space = (): string => blank ?? random.pick(blanks);
  const word = (): Spelled => spelledText(textOf(random), random);
  const value = (depth: number): Spelled => {
    const draw = random.below(depth > 2 ? 5 : 7);
    if (draw < 2) return word();
    if (draw === 2) return random.pick(numbers);
    if (draw === 3) return random.chance(0.5) ? yes : no;
    if (draw === 4) return { value: null, text: "null" };
    return draw === 5 ? list(depth + 1) : object(depth + 1);
  };
  const list = (depth: number): Spelled => {
    const rows = Array.from({ length: random.below(4) }, () => value(depth));
    const inner = rows.map((row) => `${space()}${row.text}${space()}`).join(",");
    return { value: rows.map((row) => row.value), text: `[${inner === "" ? space() : inner}]` };
  };
  const object = (depth: number): Spelled & { readonly value: JsonObject } => {
    const fields: Record<string, Json> = {};
    const texts: string[] = [];
    for (let left = random.below(4); left > 0; left -= 1) {
      const key = random.pick(keys);
      if (Object.hasOwn(fields, key)) continue;
      const field = value(depth);
      fields[key] = field.value;
      const name = spelledText(key, random).text;
      texts.push(`${space()}${name}${space()}:${space()}${field.text}${space()}`);
    }
    return { value: fields, text: `{${texts.length === 0 ? space() : texts.join(",")}}` };
  };
  const { value: input, text } = object(0);
  return { raw: `${space()}${text}${space()}`, input };
}

/** A string literal: the shortest form, ASCII only, or each unit escaped. */
function spelledText(value: string, random: Random): Spelled {
  const plain = JSON.stringify(value);
  const draw = random.next();
  if (draw < 0.7) return { value, text: plain };
  if (draw < 0.8) return { value, text: plain.replaceAll("/", String.raw`\/`) };
  const spelled =
    draw < 0.9 ? plain.slice(1, -1).replaceAll(/[^\0-~]/g, numbered) : byNumber(value);
  return { value, text: `"${spelled}"` };
}

function byNumber(value: string): string {
  let text = "";
  for (let at = 0; at < value.length; at += 1) text += numbered(value.charAt(at));
  return text;
}

function numbered(unit: string): string {
  const digits = unit.charCodeAt(0).toString(16).padStart(4, "0");
  return String.raw`\u` + (unit.charCodeAt(0) % 2 === 0 ? digits : digits.toUpperCase());
}

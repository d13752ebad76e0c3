import { hostileTexts } from "../../browser/kit/hostile.ts";
import { runs } from "../../kit/runs.ts";

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ");

/** Places in Markdown that a text of the corpus is put into. */
const wraps: readonly ((text: string) => string)[] = [
  (text) => `| head | of |\n| --- | --- |\n| ${oneLine(text)} | table |`,
  (text) => `> - ${oneLine(text)}`,
  (text) => `[${oneLine(text)}](https://example.com "${oneLine(text)}")`,
  (text) => `\`\`\`${oneLine(text).slice(0, 40)}\n${text}`,
  (text) => `**bold ${oneLine(text)}** and [^1]\n\n[^1]: ${oneLine(text)}`,
  (text) => `![${oneLine(text)}](http://evil.example:9/${encodeURIComponent(text.slice(0, 40))})`,
];

const short = hostileTexts.filter((text) => text.length < 2_000);

/** Texts of the corpus inside Markdown: each in one place, and in the campaign in three. */
const wrapped = Array.from({ length: runs(1, 3) }, (_, round) =>
  short.map((text, at) => wraps[(at + 2 * round) % wraps.length]?.(text) ?? text),
).flat();

/** All payloads of the app: the corpus as it is, and inside Markdown. */
export const payloads: { readonly all: readonly string[]; readonly short: readonly string[] } = {
  all: [...hostileTexts, ...wrapped],
  short,
};

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

/** Texts of the corpus inside Markdown, each in another place in every round. */
const wrapped = (round: number): readonly string[] =>
  short.map((text, at) => wraps[(at + round) % wraps.length]?.(text) ?? text);

/** Payloads that are shown together. */
export interface Payloads {
  readonly all: readonly string[];
  readonly short: readonly string[];
}

/**
 * All payloads of the app: the corpus as it is and inside Markdown, and in the campaign in more places of it. In
 * groups, since one reply has only so many parts.
 */
export const payloadGroups: readonly Payloads[] = [
  { all: [...hostileTexts, ...wrapped(0)], short },
  ...Array.from({ length: runs(1, 2) }, (_, at) => ({
    all: [...wrapped(2 * at + 1), ...wrapped(2 * at + 2)],
    short,
  })),
];

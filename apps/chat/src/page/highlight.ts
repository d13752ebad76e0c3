/** A piece of code, and what it looks like. */
export interface Token {
  readonly kind: "comment" | "string" | "number" | "word" | "plain";
  readonly text: string;
}

/** Words that mean much in the languages that people are shown most. */
const words =
  "abstract and as async await begin bool break case catch class concurrently const continue create def default del delete do elif else end enum except export extends false finally float fn for from func function go if impl import in index insert int interface into is join lambda let limit loop match mod mut new nil none not null on or order package pass private protected pub public raise return select self set static string struct super switch table then this throw true try type typeof undefined update use using values var void where while with yield";

const pattern = new RegExp(
  [
    String.raw`(?<comment>\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|(?<=^|\s)#[^\n]*|(?<=^|\s)--[^\n]*)`,
    String.raw`(?<string>"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|\x60(?:[^\x60\\]|\\.)*\x60?)`,
    String.raw`(?<number>\b\d[\w.]*)`,
    String.raw`(?<word>\b(?:${words.replaceAll(" ", "|")})\b)`,
  ].join("|"),
  "gi",
);

/** More than this is shown plain: so long a block costs too much to colour. */
const most = 20_000;

/** Cuts code of any language into pieces to colour. They join to the same text. Linear. */
export function highlight(code: string): readonly Token[] {
  if (code.length > most) return [{ kind: "plain", text: code }];
  const tokens: Token[] = [];
  let at = 0;
  for (const { index, 0: text, groups = {} } of code.matchAll(pattern)) {
    if (index > at) tokens.push({ kind: "plain", text: code.slice(at, index) });
    const [kind] = Object.entries(groups).find(([, found]) => found !== undefined) ?? ["plain"];
    tokens.push({ kind: kind as Token["kind"], text }); // the names of the groups
    at = index + text.length;
  }
  if (at < code.length) tokens.push({ kind: "plain", text: code.slice(at) });
  return tokens;
}

/**
 * Finds a fragment of code in sources by its tokens, so that formatting does not matter. Names may have
 * changed since the fragment was written: then each name of the fragment stands for one name of the source.
 */

/** A file of a package or an app. */
export interface SourceText {
  /** Relative to the top folder. */
  readonly file: string;
  readonly text: string;
}

/** Where a fragment is looked for first, the fragment, and what replaces it. */
export interface Edit {
  /** The folder's name of the package or app. */
  readonly in: string;
  /** The top-level declaration around the fragment, or nothing for one outside of declarations. */
  readonly symbol: string;
  readonly find: string;
  readonly replace: string;
}

/** The one place of a fragment, and its replacement with the names of that place. */
export interface Found {
  readonly source: SourceText;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Whether it is an identifier of code: no keyword, and no word in the text of a template literal. */
  readonly isName: boolean;
  /** The bracket around it, if that is in the code too. */
  readonly within: string | undefined;
}

/** The names of a fragment with those of the source that they stand for. Properties are apart. */
interface Names {
  readonly variables: ReadonlyMap<string, string>;
  readonly properties?: ReadonlyMap<string, string>;
  /** Those in braces, such as `{ name }`, of which the property and the variable have the same other name. */
  readonly both?: ReadonlySet<string>;
}

// The text of template literals is split like code. A regular expression follows a sign or `return`, and
// nothing that could be divided.
const pattern = new RegExp(
  [
    String.raw`(?<comment>(?<!:)\/\/.*|\/\*[\s\S]*?\*\/)`,
    String.raw`"(?:[^"\\\n$]|\\.|\$(?!\{))*"|'(?:[^'\\\n$\x60]|\\.)*'`,
    String.raw`(?<=(?:^|[(,=:[!&|?{;>]|\breturn)\s*)\/(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*`,
    String.raw`\d[\w.]*|\$\{|(?<name>[#\p{ID_Start}_$](?:\p{ID_Continue}|\$(?!\{))*)`,
    String.raw`\.{3}|=>|[=!]==?|[<>]=|&&=?|\|\|=?|\?\?=?|\?\.(?!\d)|\+\+|--|\*\*|[-+*/%|&^]=|\S`,
  ].join("|"),
  "gu",
);

const keywords = new Set(
  `abstract as async await boolean break case catch class const continue default delete do else export extends
  false finally for from function get if implements import in instanceof interface is keyof let never new null
  number of override private protected readonly return satisfies set static string super switch symbol this
  throw true try type typeof undefined unknown using var void while yield`.split(/\s+/),
);

/** The tokens of code. Left out are comments and commas before a closing bracket, which a formatter sets. */
export function tokensOf(code: string): readonly Token[] {
  const open: string[] = [];
  const tokens: Token[] = [];
  for (const { 0: text, index, groups } of code.matchAll(pattern)) {
    if (groups?.["comment"] !== undefined) continue;
    const within = open.at(-1);
    const inText = within === "`";
    const isName = groups?.["name"] !== undefined && !inText && !keywords.has(text);
    const isClosing = inText ? text === "`" : /^[)\]}]$/.test(text);
    if (isClosing) open.pop();
    else if (inText ? text === "${" : /^(?:[([{`]|\$\{)$/.test(text)) open.push(text);
    if (isClosing && !inText && tokens.at(-1)?.text === ",") tokens.pop();
    tokens.push({ text, start: index, end: index + text.length, isName, within });
  }
  return tokens;
}

function isProperty(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1]?.text;
  if (before === "." || before === "?.") return true;
  return tokens[at + 1]?.text === ":" && isListed(tokens, at);
}

/** Whether a name begins an element of a list in braces. */
function isListed(tokens: readonly Token[], at: number): boolean {
  const [before = ",", within = "{"] = [tokens[at - 1]?.text, tokens[at]?.within];
  return (before === "," || before === "{") && within === "{";
}

/** Whether a name is a property and a variable at once, as in `{ name }`. */
function isShort(tokens: readonly Token[], at: number): boolean {
  return isListed(tokens, at) && /^[,}]$/.test(tokens[at + 1]?.text ?? "");
}

/** The variable in `name: variable`. */
function valueAt(tokens: readonly Token[], at: number): string | undefined {
  const [colon, value] = [tokens[at + 1], tokens[at + 2]];
  return colon?.text === ":" && value?.isName === true ? value.text : undefined;
}

function isLike(wanted: Token | undefined, token: Token | undefined): boolean {
  return wanted?.text === token?.text || (wanted?.isName === true && token?.isName === true);
}

/** The names with which a fragment equals the tokens from an index on, or nothing. */
function compare(find: readonly Token[], tokens: readonly Token[], first: number) {
  if (!isLike(find[0], tokens[first])) return undefined; // most places, and quickly
  const names = { variables: new Map<string, string>(), properties: new Map<string, string>() };
  const taken = { variables: new Map<string, string>(), properties: new Map<string, string>() };
  const both = new Set<string>();
  const isSame = (kind: keyof typeof names, name: string, other: string): boolean => {
    if ((names[kind].get(name) ?? other) !== other) return false;
    if ((taken[kind].get(other) ?? name) !== name) return false;
    names[kind].set(name, other);
    taken[kind].set(other, name);
    return true;
  };
  let at = first;
  for (let index = 0; index < find.length; index += 1, at += 1) {
    const [wanted, token] = [find[index], tokens[at]];
    if (wanted === undefined || token === undefined || !isLike(wanted, token)) return undefined;
    if (!token.isName || !wanted.isName) continue;
    const isEqual = token.text === wanted.text;
    const [value, other] = [valueAt(find, index), valueAt(tokens, at)];
    if (isEqual && other !== undefined && isShort(find, index)) {
      if (!isSame("variables", wanted.text, other)) return undefined;
      at += 2;
    } else if (isEqual && value !== undefined && isShort(tokens, at)) {
      if (!isSame("variables", value, token.text)) return undefined;
      index += 2;
    } else {
      const kind = isProperty(tokens, at) ? "properties" : "variables";
      if (!isSame(kind, wanted.text, token.text)) return undefined;
      if (isShort(find, index) && isShort(tokens, at)) both.add(wanted.text);
    }
  }
  const pairs = [...names.variables, ...names.properties];
  const renamed = pairs.filter(([name, other]) => name !== other).length;
  return { ...names, both, end: at, renamed, of: pairs.length };
}

/** Code with other names. `{ name }` becomes `{ name: other }` where only the variable is renamed. */
export function rename(code: string, { variables, properties, both }: Names): string {
  const tokens = tokensOf(code);
  let renamed = "";
  let end = 0;
  for (const [at, token] of tokens.entries()) {
    const { text, start, isName } = token;
    const variable = variables.get(text) ?? text;
    const isPair = isShort(tokens, at) && variable !== text && both?.has(text) !== true;
    renamed += code.slice(end, start);
    if (!isName) renamed += text;
    else if (isProperty(tokens, at))
      renamed += properties?.get(text) ?? (at === 0 ? variable : text);
    else renamed += isPair ? `${text}: ${variable}` : variable;
    end = token.end;
  }
  return renamed + code.slice(end);
}

/** A part of a source in which a fragment may be. */
interface Scope {
  readonly source: SourceText;
  readonly tokens: readonly Token[];
}

/** Where a fragment is, and which names it has there. */
interface Match extends Names {
  readonly edit: Edit;
  readonly source: SourceText;
  readonly start: number;
  readonly end: number;
  readonly renamed: number;
}

/**
 * The places of edits that belong together, or why one has none. What one of them finds out about the names
 * in a declaration counts for the others in there, so that one may be without a change.
 */
export function findEdits(
  sources: readonly SourceText[],
  edits: readonly Edit[],
): readonly Found[] | string {
  const matches = edits.map((edit) => findEdit(sources, edit));
  const problem = matches.find((match) => typeof match === "string");
  if (problem !== undefined) return problem;
  const found = matches.filter((match) => typeof match !== "string");
  return found.map((match) => {
    const { edit, source, start, end } = match;
    const beside = found.filter(
      (other) => other.source === source && other.edit.symbol === edit.symbol,
    );
    const variables = new Map(beside.flatMap((other) => [...other.variables]));
    return { source, start, end, replacement: rename(edit.replace, { ...match, variables }) };
  });
}

/**
 * Looks in the declarations of the symbol's name, and then anywhere, each time in the edit's package first. Of
 * several places the one with the fewest renamed names counts. Away from the symbol at least half of the
 * names must be those of the fragment.
 */
function findEdit(sources: readonly SourceText[], edit: Edit): Match | string {
  const isOwn = ({ file }: SourceText): boolean => file.split("/")[1] === edit.in;
  const [own, others] = [sources.filter(isOwn), sources.filter((source) => !isOwn(source))];
  let isFound = false;
  for (const share of [1, 0.5]) {
    for (const some of [own, others]) {
      const scopes = some.flatMap((source) =>
        share === 1 ? declarations(source, edit.symbol) : { source, tokens: splitOnce(source) },
      );
      const matches = scopes.flatMap((scope) => matchesIn(scope, edit, share));
      const fewest = Math.min(...matches.map(({ renamed }) => renamed));
      const [best, second] = matches.filter(({ renamed }) => renamed === fewest);
      if (best !== undefined && second === undefined) return best;
      isFound ||= best !== undefined;
    }
  }
  const where = `${edit.in} ${edit.symbol}`.trimEnd();
  return `${isFound ? "more than one place" : "no place"} is like that of ${where}: ${edit.find}`;
}

function matchesIn({ source, tokens }: Scope, edit: Edit, share: number): readonly Match[] {
  const find = tokensOf(edit.find);
  const matches = tokens.flatMap((token, at) => {
    const match = compare(find, tokens, at);
    if (match === undefined || match.renamed > match.of * share) return [];
    const end = tokens[match.end - 1]?.end ?? token.end;
    return [{ ...match, edit, source, start: token.start, end }];
  });
  // In `{ name: other }` one that begins with `name` begins at `other` too.
  return matches.filter(({ end }, at) => end !== matches[at - 1]?.end);
}

/** The declarations of a name. Those at the top begin a line in any format, and end at the next. */
function declarations(source: SourceText, name: string): readonly Scope[] {
  if (name === "" || !source.text.includes(name)) return [];
  const all = [...source.text.matchAll(declaration)];
  return all.flatMap((each, index) => {
    if (each[1] !== name) return [];
    const end = all[index + 1]?.index ?? Infinity;
    const tokens = splitOnce(source).filter(({ start }) => start >= each.index && start < end);
    return [{ source, tokens }];
  });
}

const declaration =
  /^(?:export |declare |abstract |async )*(?:function\*?|class|const|let|interface|type) ([\w$]+)/gm;

const split = new WeakMap<SourceText, readonly Token[]>();

function splitOnce(source: SourceText): readonly Token[] {
  const tokens = split.get(source) ?? tokensOf(source.text);
  split.set(source, tokens);
  return tokens;
}

/** The files that edits change, with their new texts. */
export function applyEdits(found: readonly Found[]): ReadonlyMap<string, string> {
  const texts = new Map(found.map(({ source }) => [source.file, source.text]));
  for (const { source, start, end, replacement } of found.toSorted((a, b) => b.start - a.start)) {
    const text = texts.get(source.file) ?? "";
    texts.set(source.file, text.slice(0, start) + replacement + text.slice(end));
  }
  return texts;
}

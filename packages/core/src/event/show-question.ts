import type { Json } from "../json.ts";

/** What a question is about: a `ViewApproval`, an `approval_requested` fact and its narration have it. */
export interface AskedCall {
  readonly tool: string;
  /** JSON, also where an agent's types know more of it. */
  readonly input: object;
  readonly parsed?: Json | undefined;
}

/** A question as terminals, narrations and pages show it. They add layout and change no text. */
export interface RenderedQuestion {
  readonly tool: string;
  /** What the model sent. */
  readonly input: RenderedJson;
  /** What the tool gets instead, where its schema changes the input: defaults, conversions, dropped keys. */
  readonly parsed?: RenderedJson;
}

/** A JSON value as text that hides nothing. */
export interface RenderedJson {
  readonly text: string;
  /**
   * How much there is, as `(1200 characters, 3 of them not ASCII)`. Empty for a short text in ASCII, which
   * a reader takes in at one look.
   */
  readonly counts: string;
}

/**
 * The one rendering of a question to a person: complete, in one line for each value, and harmless on a
 * terminal and in a text node of a page. See `showJson`.
 */
export function showQuestion({ tool, input, parsed }: AskedCall): RenderedQuestion {
  const shown = { tool: showName(tool), input: withCounts(input) };
  return parsed === undefined ? shown : { ...shown, parsed: withCounts(parsed) };
}

/**
 * Writes a value as JSON in which all that a reader could not see, could take for something else, or that
 * moves other text is escaped. `JSON.parse` gives the same value, so what is shown is what runs. Never
 * shortened: what was left out could be the point. Linear in the value. Letters that are written from
 * right to left are escaped too, because they reorder the numbers and the values around them.
 */
export function showJson(value: Json | object): string {
  return JSON.stringify(value).replaceAll(unseen, escaped);
}

/** The start of the same text for a line that is no question, with the number of characters left out. */
export function showJsonStart(value: Json | object, length: number): string {
  const text = showJson(value);
  if (text.length <= length) return text;
  // Ends between two characters and behind an escape: half of one would be another text.
  const [start = ""] = /^(?:\\u[0-9a-f]{4}|\\[^u]|[^\\\p{Cs}])*/u.exec(text.slice(0, length)) ?? [];
  return `${start}… (${text.length - start.length} more characters)`;
}

/** A tool's name as it may be defined, or a quoted text for any other name. */
function showName(name: string): string {
  return /^[A-Za-z0-9_.:/-]{1,64}$/.test(name) ? name : showJson(name);
}

function withCounts(value: Json | object): RenderedJson {
  const plain = JSON.stringify(value);
  const characters = Array.from(plain).length;
  const foreign = plain.match(/\P{ASCII}/gu)?.length ?? 0;
  const text = showJson(value);
  if (foreign === 0 && characters <= glance) return { text, counts: "" };
  const others = foreign === 0 ? "" : `, ${foreign} of them not ASCII`;
  return { text, counts: `(${characters} characters${others})` };
}

/** A longer text may continue behind what a terminal or a box on a page shows at once. */
const glance = 200;

const unseen = new RegExp(
  [
    // Control, format, private and unassigned characters, and the invisible.
    String.raw`[\p{C}\p{Default_Ignorable_Code_Point}]`,
    // Blanks but the ordinary one, and each further one of a row: pages and terminals collapse them.
    String.raw`(?! )\p{Z}|(?<= ) `,
    // Marks that overlay something else than a letter, or pile up on it.
    String.raw`(?<!\p{L}\p{M}{0,2})\p{M}`,
    // Arrows, lines, boxes, blocks and shapes, by which frames and marks such as our own are drawn.
    String.raw`[\u2190-\u2bff\u{1f780}-\u{1f8ff}\uff5c\uffe8-\uffee]`,
    // Letters that are written from right to left.
    String.raw`[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]`,
  ].join("|"),
  "gu",
);

function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}

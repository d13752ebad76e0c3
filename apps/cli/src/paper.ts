/** How something looks, where there are colours. It never says what the words don't. */
export type Ink = "plain" | "dim" | "note" | "bad" | "ask";

/** What the story is written on: a terminal's screen, plain output, a test's list. */
export interface Paper {
  /** Goes on with the text, or begins one. */
  readonly text: (text: string, ink: Ink) => void;
  /** Ends the line that the text is in, if it is in one. */
  readonly endText: () => void;
  /** Lines of their own, after what there is. */
  readonly line: (text: string, ink: Ink) => void;
  /** A text to the letter, in as many rows as it needs, each marked as belonging to it. */
  readonly verbatim: (text: string, ink: Ink) => void;
}

/**
 * Lines of ours begin with this. The text of models and tools is not let to write it, so that it can
 * forge none.
 */
export const mark = "►";

/** Begins each row of a text that is shown to the letter. */
export const verbatimMark = "  │ ";

/** Takes our mark out of somebody else's text. */
export function withoutMark(text: string): string {
  return text.replaceAll(mark, "▸");
}

const inks: Readonly<Record<Ink, readonly [string, string]>> = {
  plain: ["", ""],
  dim: ["\u001b[2m", "\u001b[22m"],
  note: ["\u001b[36m", "\u001b[39m"],
  bad: ["\u001b[31m", "\u001b[39m"],
  ask: ["\u001b[33m", "\u001b[39m"],
};

/** The row in its ink. Each row ends what it began, so that a program that dies leaves no colour. */
export function inked(row: string, ink: Ink): string {
  const [begin, end] = inks[ink];
  return row === "" ? row : `${begin}${row}${end}`;
}

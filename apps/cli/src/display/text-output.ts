/** How a text looks where there are colours. The text alone means the same. */
export type TextStyle = "plain" | "dim" | "note" | "bad" | "ask";

/** Where a printer writes: a terminal's screen or plain output. */
export interface TextOutput {
  /** Appends to the open text, or begins one. */
  readonly text: (text: string, style: TextStyle) => void;
  /** Ends the line that the text is in, if it is in one. */
  readonly endText: () => void;
  /** Writes a line of its own, after ending the text. */
  readonly line: (text: string, style: TextStyle) => void;
  /** A text to the letter, in as many rows as it needs, each marked as belonging to it. */
  readonly verbatim: (text: string, style: TextStyle) => void;
}

/** Begins each row of a text that is shown to the letter. */
export const verbatimMark = "  │ ";

const styles: Readonly<Record<TextStyle, readonly [string, string]>> = {
  plain: ["", ""],
  dim: ["\u001b[2m", "\u001b[22m"],
  note: ["\u001b[36m", "\u001b[39m"],
  bad: ["\u001b[31m", "\u001b[39m"],
  ask: ["\u001b[33m", "\u001b[39m"],
};

/** The row in its style. Each row ends what it began, so that a program that dies leaves no colour. */
export function styled(row: string, style: TextStyle): string {
  const [begin, end] = styles[style];
  return row === "" ? row : `${begin}${row}${end}`;
}

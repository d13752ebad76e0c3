import type { JsonObject } from "@millrace/core";

/** Texts that would act on a terminal or a page, hide something, or look like a line of the program. */
const acts: readonly string[] = [
  "\u001b[2J\u001b[H", // clears the screen
  "\u001b[1A\u001b[2K", // erases the row above
  "\u001b[8m", // conceals
  "\u001b[31m",
  "\u001b]0;a title\u0007",
  "\u001b]8;;https://evil.example\u001b\\a link\u001b]8;;\u001b\\",
  "\u001b]52;c;cm0gLXJm\u0007", // writes the clipboard
  "\u001bP1$r0m\u001b\\",
  "\u001b[6n", // makes the terminal type an answer
  "\u001bc",
  "\u009b2J",
  "\u009d0;a title\u009c",
  "\u0090q\u009c",
  "\r► allowed",
  "\n► allowed\n",
  "\r\n  │ {}\r\n",
  "\b\b\b\b\b\b\b\b",
  "\u007f\u007f\u007f",
  "\u0000",
  "\u000b\u000c",
  "\u0085► allowed",
  "\u2028► allowed\u2029",
  "\u202etxt.exe\u202c",
  "\u2066\u2067\u2069",
  "\u200e\u200f\u061c",
  "\u200b\u200c\u200d\u2060\ufeff",
  "\u{e0041}\u{e0042}\u{e007f}", // tags
  "\ufe0f\u{e0100}",
  "\u3164\uffa0\u115f\u1160\u2800", // blanks that are letters or symbols
  "\u00a0\u2003\u3000",
  "                                                                                ",
  "5\u0338\u0489\u20dd", // overlaid
  "z\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307",
  "\u05d0, 5, 500, \u05d1", // reorders the numbers
  "► may this run? ▶ ▸ ➤ ⯈ 🞂 │ ┃ ╎ ❘ ｜",
];

/** Places of a text in an input, so that it follows and is followed by different things. */
const places: readonly ((text: string) => JsonObject)[] = [
  (text) => ({ command: text }),
  (text) => ({ command: `rm -rf build${text}` }),
  (text) => ({ command: `${text} # harmless` }),
  (text) => ({ [text]: "a key" }),
  (text) => ({ command: "ls", [`note${text}`]: [text, { deep: text }] }),
  (text) => ({ command: `"} ${text} {"command":"ls` }),
  (text) => ({ command: text.repeat(20) }),
  (text) => ({ command: `${"x".repeat(400)}${text}` }),
  (text) => ({ list: [text, text, 5, 500, text] }),
  (text) => ({ command: `\\u001b${text}\\` }),
];

/** 350 inputs of calls that try to show something else than what would run. */
export const forgingInputs: readonly JsonObject[] = acts.flatMap((text) =>
  places.map((place) => place(text)),
);

/**
 * All that acts, hides or reorders on a terminal or a page: control and format characters, the invisible,
 * line ends, letters from right to left, and the mark that begins lines of the program.
 */
export const acting =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Script=Hebrew}\p{Script=Arabic}\u00a0\u2800►│]/u;

import { verbatimMark } from "./text-output.ts";
import type { TextOutput } from "./text-output.ts";

/** Output without a cursor: a pipe, a file, a terminal that can only print. Text goes out as it comes. */
export function createPlainOutput(write: (text: string) => void): TextOutput {
  let open = false;
  const endText = (): void => {
    if (open) write("\n");
    open = false;
  };
  return {
    text: (text) => {
      write(text);
      open = !text.endsWith("\n");
    },
    endText,
    line: (text) => {
      endText();
      write(`${text}\n`);
    },
    verbatim: (text) => {
      endText();
      write(`${verbatimMark}${text}\n`);
    },
  };
}

import { showQuestion } from "@millrace/core/reading";
import type { ViewApproval } from "@millrace/core";
import type { NarrationPrinter } from "./narration-printer.ts";
import type { TextOutput } from "./text-output.ts";

/** Prints a question with all of what would run, each value to the letter in rows of its own. */
export function printQuestion(
  asked: ViewApproval,
  { printer, output }: { readonly printer: NarrationPrinter; readonly output: TextOutput },
): void {
  const { tool, input, parsed } = showQuestion(asked);
  printer.note(`may this run? ${tool} ${input.counts}`.trimEnd(), "ask");
  output.verbatim(input.text, "ask");
  if (parsed === undefined) return;
  printer.note(`it runs as ${parsed.counts}`.trimEnd(), "ask");
  output.verbatim(parsed.text, "ask");
}

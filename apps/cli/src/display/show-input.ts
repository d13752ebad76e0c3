import type { JsonObject } from "@millrace/core";

/**
 * Writes out what would run, complete and in one line: the input as JSON, in which everything that a
 * reader could not see, or that could reorder or end a line, is escaped. It reads back as the same
 * input, so what is shown is what runs. Never shortened: what was left out could be the point.
 */
export function showInput(input: JsonObject): string {
  return JSON.stringify(input).replaceAll(unseen, escaped);
}

/**
 * Control, format, private and unassigned characters, blanks but the ordinary one, and the invisible;
 * and our own mark, which begins lines of ours.
 */
const unseen = /[\p{C}\p{Default_Ignorable_Code_Point}►]|(?! )\p{Z}/gu;

function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}

/**
 * Counts words in comments that describe a process as a person, and fails above a limit. Prints the
 * file and line of each. Covers the product's sources: the .ts files of packages/*\/src and
 * apps/*\/src without tests and without folders named testing.
 *
 *     node scripts/check-prose.ts
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "oxc-parser";
import { isForTests, lineOf } from "./sources.ts";
import { root } from "./workspace.ts";

/** The number of such words that may remain. Lower it when comments lose some; never raise it. */
const LIMIT = 20;

/** "who is" may be split by a line end and the mark of the next comment line. */
const personal = /\b(?:told|said|whoever|who[\s*/]+is)\b/gi;

/** Finds the words below a folder, as `file:line: word`, in alphabetical order of the files. */
export function findPersonalWords(top: string): string[] {
  return globSync("{packages,apps}/*/src/**/*.ts", { cwd: top })
    .filter((file) => !isForTests(file))
    .toSorted()
    .flatMap((file) => {
      const text = readFileSync(join(top, file), "utf8");
      return [...commentsOf(file, text).matchAll(personal)].map(
        ({ 0: word, index }) => `${file}:${lineOf(text, index)}: ${word.replace(/[\s*/]+/, " ")}`,
      );
    });
}

/** The text with every character outside comments masked, so that offsets stay the same. */
function commentsOf(file: string, text: string): string {
  const mask = (code: string): string => code.replaceAll(/\S/g, "\0");
  let masked = "";
  let end = 0;
  for (const comment of parseSync(file, text).comments) {
    masked += mask(text.slice(end, comment.start)) + text.slice(comment.start, comment.end);
    end = comment.end;
  }
  return masked + mask(text.slice(end));
}

if (import.meta.main) {
  const found = findPersonalWords(root);
  for (const place of found) console.log(place);
  console.log(`${found.length} words about people in comments, ${LIMIT} allowed`);
  process.exitCode = found.length > LIMIT ? 1 : 0;
}

/**
 * Many named pieces of bytes in one text file, so that hundreds of small fixtures are a few files
 * whose changes can be read in a diff.
 *
 *     === text
 *     data: {"id":1}
 *
 *     === line ends
 *     data: {"id":2}\x0D
 *
 * A section begins with a line `=== <name>`. Its bytes are the lines below it, without the last line
 * feed. A byte that a text file does not keep, or a reader does not see, is written `\xHH`: control
 * characters except the line feed, the byte order mark, and the bytes above 7F of a line that is not
 * UTF-8. So that nothing else reads as such an escape or as a heading, a backslash before `x` is
 * written `\x5C`, and the first `=` of a line that begins with `=== ` is written `\x3D`. All other
 * bytes stand for themselves.
 */
import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";

const heading = "=== ";

/** Reads the sections of a file, in their order. */
export function readSections(path: string): Map<string, Uint8Array> {
  const sections = new Map<string, Uint8Array>();
  for (const section of readFileSync(path, "utf8").split(/^=== /m).slice(1)) {
    const end = section.indexOf("\n");
    const name = section.slice(0, end);
    if (sections.has(name)) throw new Error(`${path} has two sections named ${name}`);
    sections.set(name, unescape(section.slice(end + 1, -1)));
  }
  return sections;
}

/** Prints a file that `readSections` reads as the same sections. */
export function printSections(sections: Iterable<readonly [string, Uint8Array]>): string {
  return Array.from(sections, ([name, bytes]) => `${heading}${name}\n${escape(bytes)}\n`).join("");
}

/** As text in which each character is a byte, so that no step on the way changes one. */
function escape(bytes: Uint8Array): string {
  const lines = Buffer.from(bytes).toString("latin1").split("\n").map(escapeLine);
  return Buffer.from(lines.join("\n"), "latin1").toString("utf8");
}

function escapeLine(line: string): string {
  const hidden = isUtf8(Buffer.from(line, "latin1"))
    ? /\\(?=x)|[^ -~\x80-\xff]|\xef\xbb\xbf/g
    : /\\(?=x)|[^ -~]/g;
  const escaped = line.replaceAll(hidden, (found) => Array.from(found, hex).join(""));
  return escaped.startsWith(heading) ? hex("=") + escaped.slice(1) : escaped;
}

function hex(byte: string): string {
  return `\\x${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
}

function unescape(text: string): Uint8Array {
  const bytes = Buffer.from(text)
    .toString("latin1")
    .replaceAll(/\\x([0-9A-F]{2})/g, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    );
  return new Uint8Array(Buffer.from(bytes, "latin1"));
}

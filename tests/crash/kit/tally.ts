import { openSync, readFileSync, writeSync } from "node:fs";

/** A file of lines that outlives the process: every line in it has happened. */
export interface Tally {
  readonly file: number;
  readonly add: (line: string) => void;
  readonly lines: () => readonly string[];
}

export function openTally(path: string): Tally {
  const file = openSync(path, "a");
  return {
    file,
    add: (line) => void writeSync(file, `${line}\n`),
    lines: () => readLines(path),
  };
}

/** The lines of a tally; none if there is no such file. */
export function readLines(path: string): readonly string[] {
  try {
    return readFileSync(path, "utf8").split("\n").slice(0, -1);
  } catch {
    return []; // nothing was ever counted
  }
}

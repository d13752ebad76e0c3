import { isSealed } from "../kit/deployment/paced-agent.ts";
import type { SentCommand, Violation } from "./oracle.ts";
import type { Reading } from "./readers/reader.ts";

/** What callers were promised, and what they have. */
export interface Callers {
  /** Commands that were posted without our client. */
  readonly sent: readonly SentCommand[];
  /** Promises of our client that have not settled. */
  readonly open: readonly string[];
  readonly readings: readonly Reading[];
}

/** Every promise settles, every command is answered, and every reader has the answer that was written. */
export function judgeCallers({ sent, open, readings }: Callers): readonly Violation[] {
  const found: Violation[] = open.map((what) => ({ kind: "promise open", what }));
  for (const { call, key, outcome } of sent)
    if (outcome === "unknown") found.push({ kind: "given up", what: `${call} ${key}` });
  for (const { name, faults, open: key } of readings) {
    for (const what of faults) found.push({ kind: "reader differs", what: `${name}: ${what}` });
    if (key !== undefined) found.push({ kind: "reader waits", what: `${name} waits for ${key}` });
  }
  return found;
}

/** A file of a session, and what a page was sent for it. */
export interface ReadFile {
  readonly name: string;
  readonly text: string;
}

/** Every file is there, whole. */
export function judgeFiles(files: readonly ReadFile[]): readonly Violation[] {
  return files
    .filter(({ text }) => !isSealed(text))
    .map(({ name, text }) => ({ kind: "file lost", what: `${name}: ${text.slice(0, 200)}` }));
}

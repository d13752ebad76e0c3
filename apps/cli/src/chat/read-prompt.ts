import type { Readable } from "node:stream";
import { stopCodes } from "../command/stop-signals.ts";
import type { StopSignals } from "../command/stop-signals.ts";

/** As much as is read from a pipe. More would not fit into any model's context. */
const maxBytes = 8 * 1024 * 1024;
const noticeMs = 3_000;

export type ReadPrompt =
  | { readonly prompt: string }
  | { readonly prompt?: undefined; readonly problem: string };

/** Reads the prompt. Until it is there nothing runs, so a signal ends the process at once. */
export async function readWholePrompt(
  words: string | undefined,
  stops: StopSignals,
): Promise<ReadPrompt> {
  stops.connect((stop) => process.exit(stopCodes[stop]));
  return await readPrompt(words, process.stdin, () =>
    process.stderr.write("millrace: waits for the end of stdin (without one: < /dev/null)\n"),
  );
}

/**
 * The one prompt of a command that prints and ends: the words of the command line, and after an empty
 * line what is piped in. A pipe is read to its end. One that neither sends nor ends is reported by
 * `waits` after three seconds, since it may be one that the caller forgot to close.
 */
async function readPrompt(
  words: string | undefined,
  input: (Readable & { readonly isTTY?: boolean }) | undefined,
  waits: () => void,
): Promise<ReadPrompt> {
  const piped = input === undefined || input.isTTY === true ? "" : await readAll(input, waits);
  if (piped === undefined) {
    return { problem: `more than ${maxBytes / 1024 / 1024} MiB on stdin: pipe in less` };
  }
  const parts = [words ?? "", piped].filter((part) => part !== "");
  if (parts.length > 0) return { prompt: parts.join("\n\n") };
  return { problem: 'there is no prompt: millrace -p "…", or pipe it in' };
}

async function readAll(input: Readable, waits: () => void): Promise<string | undefined> {
  const timer = setTimeout(waits, noticeMs);
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of input) {
      clearTimeout(timer);
      const bytes = Buffer.from(piece as Uint8Array); // a stream without an encoding gives bytes
      size += bytes.length;
      if (size > maxBytes) return undefined;
      pieces.push(bytes);
    }
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(pieces).toString("utf8").trimEnd();
}

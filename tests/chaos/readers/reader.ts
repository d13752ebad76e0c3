import { setTimeout as sleep } from "node:timers/promises";
import { textOfDirective } from "../../kit/deployment/directive.ts";
import { isSealed } from "../../kit/deployment/paced-agent.ts";
import type { Random } from "../../kit/random.ts";

/** A person with the library of another vendor, in a session of their own. */
export interface DialectReader {
  readonly name: string;
  /**
   * Sends a prompt and reads its answer, however often that is cut off. Resolves to the text that the library
   * holds at the end.
   */
  readonly ask: (key: string, text: string) => Promise<string>;
}

export interface ReaderPlace {
  /** Where the web is. */
  readonly url: string;
  readonly session: string;
}

/** What became of the questions of a reader. */
export interface Reading {
  readonly name: string;
  answers: number;
  /** Answers that are not the one that was written. */
  readonly faults: string[];
  /** The question that it waits for. */
  open: string | undefined;
}

/** The pause before a reader that was cut off comes back. */
export async function comeBack(): Promise<void> {
  await sleep(50 + Math.random() * 300);
}

/** Asks one question after the other until the signal is aborted, and reads the last answer to its end. */
export async function readOn(
  reader: DialectReader,
  reading: Reading,
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  for (let count = 1; !signal.aborted; count += 1) {
    const key = `${reader.name}-${count}`.padEnd(16, "-");
    const length = 20 + random.below(300);
    reading.open = key;
    try {
      const held = await reader.ask(key, textOfDirective({ key, mode: "plain", length }));
      if (!isAnswer(held, key)) reading.faults.push(`${key} holds ${JSON.stringify(held)}`);
    } catch (error) {
      reading.faults.push(`${key} fails: ${error instanceof Error ? error.stack : String(error)}`);
    }
    reading.open = undefined;
    reading.answers += 1;
    const ms = 300 + random.next() * 1_500;
    await sleep(ms, undefined, { signal }).catch(() => undefined);
  }
}

/** Whether a text is the answer to a key, whole. Pieces of two attempts do not agree with the sum at the end. */
export function isAnswer(held: string, key: string): boolean {
  return held.startsWith(`answer to ${key},`) && isSealed(held);
}

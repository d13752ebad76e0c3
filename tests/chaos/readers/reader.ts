import { setTimeout as sleep } from "node:timers/promises";
import type { ReadReply } from "../../dialects/kit/read-replies.ts";
import { textOfDirective } from "../../kit/deployment/directive.ts";
import { isSealed } from "../../kit/deployment/paced-agent.ts";
import type { Random } from "../../kit/random.ts";
import { patientFetch } from "./patient-fetch.ts";

/** A person with the library of another vendor, in a session of their own. */
export interface DialectReader {
  readonly name: string;
  readonly read: ReadReply;
  /** Where the web is. */
  readonly url: string;
  readonly session: string;
  /** Aborted when the reader leaves, whatever it waits for. */
  readonly left: AbortSignal;
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

/** Asks one question after the other until the signal is aborted, and reads the last answer to its end. */
export async function readOn(
  { name, read, url, session, left }: DialectReader,
  reading: Reading,
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  const fetch = patientFetch(url, left);
  for (let count = 1; !signal.aborted; count += 1) {
    const key = `${name}-${count}`.padEnd(16, "-");
    const length = 20 + random.below(300);
    const prompt = textOfDirective({ key, mode: "plain", length });
    reading.open = key;
    const texts = await read({ fetch, session, prompt, key, onShown: () => undefined });
    for (const text of texts)
      if (!isAnswer(text, key)) reading.faults.push(`${key} holds ${JSON.stringify(text)}`);
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

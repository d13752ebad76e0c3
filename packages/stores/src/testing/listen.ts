import type { Fact } from "@millrace/core";
import type { Batch } from "@millrace/core/ports";

/** Reads a subscription in the background. */
export function listen<T>(subscription: AsyncIterable<T>): { all: T[]; over: Promise<unknown> } {
  const all: T[] = [];
  const read = async (): Promise<void> => {
    for await (const value of subscription) all.push(value);
  };
  const over = read().then(
    () => "ended",
    (error: unknown) => error,
  );
  return { all, over };
}

/** The messages in short: a fact by its number, a batch by its last one. */
export function names(messages: readonly (Fact | Batch)[]): string[] {
  return messages.map((message) => ("n" in message ? `fact ${message.n}` : `${message.last}`));
}

import type { Channel } from "@millrace/core/store-kit";
import { macLength } from "./seal.ts";

/** Texts that are expected at once. Redis may lose one, so above this the oldest is given up. */
const maxExpected = 1_000;

/**
 * The subscribers of this process to one channel. What this process publishes there is handed over to them
 * once it is stored, and dropped when it comes back from Redis. So they have what is stored and nothing else,
 * each value once, without a MAC to check and a text to parse.
 */
export class Near<T> {
  readonly taps: Set<Channel<T>> = new Set();
  /** The MACs of texts on their way through Redis. */
  readonly #expected = new Set<string>();

  push(value: T): void {
    for (const tap of this.taps) tap.push(value);
  }

  /** This process publishes a text, and pushes its value itself. */
  expect(text: string): void {
    this.#expected.add(text.slice(0, macLength));
    const [oldest] = this.#expected.size > maxExpected ? this.#expected : [];
    if (oldest !== undefined) this.#expected.delete(oldest);
  }

  /**
   * Whether a text was expected. From then on it is not. Of a forged text with the MAC of an expected one,
   * the true one comes from Redis too, as a repeated announcement may: readers know its numbers.
   */
  takeExpected(text: string): boolean {
    return this.#expected.size > 0 && this.#expected.delete(text.slice(0, macLength));
  }
}

import { get } from "node:http";
import type { ClientRequest } from "node:http";

/** Counts the time that pieces of a reply are late by their plan, as a viewer gets them: see `latePiece`. */
const piece = /\+(\d{5})/g;

/** A reader of a session's events that keeps none of them, so that hundreds fit beside what is measured. */
export class LoadReader implements Disposable {
  /** When the first piece of the reply came, in milliseconds since 1970. */
  streamsAt: number | undefined;
  #late: number[] = [];
  readonly #request: ClientRequest;

  private constructor(url: string, onStart: () => void) {
    const headers = { accept: "text/event-stream" };
    this.#request = get(url, { headers, agent: false }, (response) => {
      response.setEncoding("utf8").on("data", (text: string) => this.#take(text));
      response.on("error", () => undefined); // it left, or the server was killed
      onStart();
    });
  }

  /** Attaches a reader. Settles when the stream has begun. */
  static async open(url: string): Promise<LoadReader> {
    const { promise: started, resolve, reject } = Promise.withResolvers<void>();
    const reader = new LoadReader(url, resolve);
    reader.#request.on("error", reject);
    await started;
    return reader;
  }

  /** How late the pieces since the last call left the model. One that two chunks share is not counted. */
  takeLate(): readonly number[] {
    const late = this.#late;
    this.#late = [];
    return late;
  }

  [Symbol.dispose](): void {
    this.#request.destroy();
  }

  #take(text: string): void {
    for (const [, digits] of text.matchAll(piece)) {
      this.streamsAt ??= Date.now();
      this.#late.push(Number(digits));
    }
  }
}

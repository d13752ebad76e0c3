import { get } from "node:http";

/** Counts the time that pieces of a reply are late by their plan, as a viewer gets them: see `latePiece`. */
const piece = /\+(\d{5})/g;

/** A reader of a session's events that keeps none of them, so that hundreds fit beside what is measured. */
export class LoadReader {
  /** When the first piece of the reply came, in milliseconds since 1970. */
  streamsAt: number | undefined;
  #late: number[] = [];

  /** Attaches a reader, which ends with the server. Settles when the stream has begun. */
  static async open(url: string): Promise<LoadReader> {
    const reader = new LoadReader();
    const headers = { accept: "text/event-stream" };
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const request = get(url, { headers, agent: false }, (response) => {
      response.setEncoding("utf8").on("data", (text: string) => reader.#take(text));
      response.on("error", () => undefined); // the server was killed
      resolve();
    });
    request.on("error", reject);
    await promise;
    return reader;
  }

  /** How late the pieces since the last call left the model. One that two chunks share is not counted. */
  takeLate(): readonly number[] {
    const late = this.#late;
    this.#late = [];
    return late;
  }

  #take(text: string): void {
    for (const [, digits] of text.matchAll(piece)) {
      this.streamsAt ??= Date.now();
      this.#late.push(Number(digits));
    }
  }
}

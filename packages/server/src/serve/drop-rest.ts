import type { Clock } from "@millrace/core/ports";
import type { NodeRequest } from "./node.ts";

/** What is read of a body after its refusal, at most. A client that sends on is cut off. */
const mostBytes = 16 * 1_024 * 1_024;
const mostMs = 5_000;
/** How many are read at once in a process. Further ones are closed, so that refusing many bodies costs little. */
const mostAtOnce = 4;

/**
 * Reads what is left of refused bodies, and drops it. A connection that is closed while bytes still come takes the
 * answer with it: the client would see a lost network instead of a refusal, and send all of it again.
 */
export class RestDropper {
  readonly #clock: Clock;
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async drop(request: NodeRequest): Promise<void> {
    if (request.destroyed || this.#count >= mostAtOnce) return;
    this.#count += 1;
    await this.#read(request);
    this.#count -= 1;
  }

  #read(request: NodeRequest): Promise<void> {
    return new Promise((resolve) => {
      let left = mostBytes;
      const done = (): void => {
        inTime();
        request.off("data", count).off("end", done).off("close", done);
        resolve();
      };
      const count = ({ length }: Uint8Array): void => {
        left -= length;
        if (left < 0) done();
      };
      const inTime = this.#clock.after(mostMs, done);
      request.on("data", count).on("end", done).on("close", done);
      request.resume();
    });
  }
}

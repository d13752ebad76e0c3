import type { RunEvent } from "@millrace/core";

/**
 * Hands events on, once there is somebody to take them. A session that is taken up again goes on at
 * once, before its screen is there; those events are kept until then.
 */
export class Relay {
  #kept: RunEvent[] = [];
  #taker: ((event: RunEvent) => void) | undefined;

  readonly observe = (event: RunEvent): void => {
    if (this.#taker === undefined) this.#kept.push(event);
    else this.#taker(event);
  };

  /** What is kept: it will be handed on, so nobody need tell it otherwise. */
  kept(): readonly RunEvent[] {
    return this.#kept;
  }

  to(taker: (event: RunEvent) => void): void {
    this.#taker = taker;
    const kept = this.#kept;
    this.#kept = [];
    for (const event of kept) taker(event);
  }
}

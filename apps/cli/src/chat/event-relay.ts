import type { RunEvent } from "@millrace/core";

/**
 * Passes events to a consumer that is connected later. A session that is opened resumes its run at
 * once, before there is a screen: events of that time are buffered until a consumer is connected.
 */
export class EventRelay {
  #buffer: RunEvent[] = [];
  #consumer: ((event: RunEvent) => void) | undefined;

  readonly observe = (event: RunEvent): void => {
    if (this.#consumer === undefined) this.#buffer.push(event);
    else this.#consumer(event);
  };

  /** The events that the first consumer will get. */
  buffered(): readonly RunEvent[] {
    return this.#buffer;
  }

  /** Passes on what is buffered, and from then on each event as it comes. Replaces the last consumer. */
  connect(consumer: (event: RunEvent) => void): void {
    this.#consumer = consumer;
    const buffered = this.#buffer;
    this.#buffer = [];
    for (const event of buffered) consumer(event);
  }
}

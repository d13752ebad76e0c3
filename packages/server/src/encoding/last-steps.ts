import type { Followed } from "@millrace/core/reading";

/** As many as a viewer may lack before it is ended. A step that is no longer held is sent whole. */
const capacity = 512;
/** They are held beside the messages themselves, so that long ones are few. */
const charactersAtMost = 128 * 1_024;

/**
 * The steps of the last messages of a room, in their order. They are looked for from the newest on, where
 * nearly all viewers are: a map with weak keys would cost more than all else that is done for a message.
 */
export class LastSteps {
  readonly #messages: (Followed | undefined)[] = [];
  readonly #steps: string[] = [];
  #start = 0;
  #end = 0;
  #characters = 0;

  push(message: Followed, step: string): void {
    if (this.#end - this.#start === capacity) this.#drop();
    this.#characters += step.length;
    while (this.#characters > charactersAtMost && this.#start < this.#end) this.#drop();
    const at = this.#end % capacity;
    this.#messages[at] = message;
    this.#steps[at] = step;
    this.#end += 1;
  }

  #drop(): void {
    const at = this.#start % capacity;
    this.#characters -= this.#steps[at]?.length ?? 0;
    this.#messages[at] = undefined;
    this.#steps[at] = "";
    this.#start += 1;
  }

  /** The steps of these messages, or undefined if one of them has none. They mostly follow each other. */
  of(messages: readonly Followed[]): readonly string[] | undefined {
    const steps: string[] = [];
    let index = -1;
    for (const message of messages) {
      index = this.#at(index + 1, message) ? index + 1 : this.#find(message);
      if (index < 0) return undefined;
      steps.push(this.#steps[index % capacity] ?? "");
    }
    return steps;
  }

  #at(index: number, message: Followed): boolean {
    return this.#messages[index % capacity] === message;
  }

  #find(message: Followed): number {
    for (let index = this.#end - 1; index >= this.#start; index -= 1)
      if (this.#at(index, message)) return index;
    return -1;
  }
}

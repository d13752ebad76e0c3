/** Every promise that a caller was given settles. */
import { simulation } from "../world/simulation.ts";
import type { Report } from "./report.ts";

interface Given {
  readonly what: string;
  readonly at: number;
  isSettled: boolean;
}

export class GivenPromises {
  readonly #given: Given[] = [];

  /** Returns the promise. It may be awaited or left alone. */
  watch<T>(what: string, promise: Promise<T>): Promise<T> {
    const given: Given = { what, at: simulation().now, isSettled: false };
    this.#given.push(given);
    const settle = (how: string) => (): void => {
      given.isSettled = true;
      simulation().trace(`${what} ${how}`);
    };
    promise.then(settle("settles"), settle("rejects"));
    return promise;
  }

  get areSettled(): boolean {
    return this.#given.every(({ isSettled }) => isSettled);
  }

  judge(report: Pick<Report, "add">): void {
    for (const { what, at, isSettled } of this.#given) {
      const age = Math.round((simulation().now - at) / 1_000);
      if (!isSettled) report.add("settles", `${what} is open for ${age} s`);
    }
  }
}

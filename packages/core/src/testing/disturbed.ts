import { isDeepStrictEqual } from "node:util";
import type { SessionState } from "../event/state.ts";
import { receive } from "../wire/receive.ts";
import { shownState } from "./in-step.ts";
import type { SentLine, StepStream } from "./in-step.ts";

/** A way in which the lines from `at` on may reach a reader that has all before. */
interface Disturbance {
  readonly name: string;
  /** Whether all lines still come: then it is always noticed. */
  readonly isWhole: boolean;
  /** The lines that come instead; undefined if there are too few for it. */
  readonly lines: (rest: readonly SentLine[], number: number) => readonly SentLine[] | undefined;
}

/** Lost, doubled, late and swapped lines. */
const disturbances: readonly Disturbance[] = [
  {
    name: "one lost",
    isWhole: false,
    lines: (rest) => (rest.length > 1 ? rest.slice(1) : undefined),
  },
  {
    name: "a run lost",
    isWhole: false,
    lines: (rest, number) => {
      const left = rest.slice(2 + (number % 7));
      return left.length > 0 ? left : undefined;
    },
  },
  { name: "doubled", isWhole: true, lines: (rest) => rest.slice(0, 1).concat(rest) },
  {
    name: "doubled later",
    isWhole: true,
    lines: (rest, number) => {
      const at = 1 + (number % 5);
      return rest.length > at ? rest.slice(0, at + 1).concat(rest) : undefined;
    },
  },
  {
    name: "swapped",
    isWhole: true,
    lines: ([one, two, ...more]) =>
      one === undefined || two === undefined ? undefined : [two, one, ...more],
  },
  {
    name: "one late",
    isWhole: true,
    lines: ([one, ...rest], number) => {
      const at = 2 + (number % 5);
      return one === undefined || rest.length < at ? undefined : rest.toSpliced(at, 0, one);
    },
  },
];

/**
 * Sends a disturbed rest of a stream to a reader at a position. Gives whether the reader noticed. Throws if
 * it takes a line into another state than that line's. So what it does not notice was of no consequence: a
 * lane that was lost together with all of it, before a fact closed it.
 */
function notices({ lines, states }: StepStream, at: number, sent: readonly SentLine[]): boolean {
  let state = states[at] as SessionState;
  for (const line of sent) {
    const received = receive(state, line.data, line.id);
    if (received.outcome === "gap") return true;
    if (received.outcome !== "applied") throw new Error(`${received.outcome}: ${line.data}`);
    ({ state } = received);
    const after = states[lines.indexOf(line) + 1] as SessionState;
    if (!isDeepStrictEqual(shownState(state), shownState(after)))
      throw new Error(`a wrong state after ${line.data}`);
  }
  return false;
}

/** How many disturbances were noticed, and how many of no consequence were not. */
export class Noticed {
  readonly #noticed = new Map<string, number>();
  #harmless = 0;

  /** Disturbs the stream at a position in every way. Throws if that goes unnoticed and should not. */
  disturb(stream: StepStream, at: number, number: number): void {
    for (const { name, isWhole, lines } of disturbances) {
      const sent = lines(stream.lines.slice(at), number);
      if (sent === undefined) continue;
      if (notices(stream, at, sent)) this.#noticed.set(name, (this.#noticed.get(name) ?? 0) + 1);
      else if (isWhole) throw new Error(`not noticed: ${name} at ${sent[0]?.data ?? ""}`);
      else this.#harmless += 1;
    }
  }

  /** Whether each way was noticed at least once. */
  get isComplete(): boolean {
    return this.#noticed.size === disturbances.length;
  }

  toString(): string {
    const shown = [...this.#noticed].map(([name, count]) => `${count} ${name}`).join(", ");
    return `noticed: ${shown}; ${this.#harmless} losses of no consequence, 0 wrong states`;
  }
}

/** Reads a stream of steps from its beginning. Throws unless the reader is right at every position. */
export function expectInStep({ lines, states }: StepStream): void {
  let state = states[0] as SessionState;
  for (const [at, { data, id }] of lines.entries()) {
    const received = receive(state, data, id);
    if (received.outcome !== "applied") throw new Error(`${JSON.stringify(received)}: ${data}`);
    ({ state } = received);
    if (!isDeepStrictEqual(shownState(state), shownState(states[at + 1] as SessionState)))
      throw new Error(`another state after ${data}`);
  }
}

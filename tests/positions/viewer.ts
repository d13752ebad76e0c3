import { apply, cursorOf, restore, snapshot } from "@millrace/core/reading";
import { encodeCursor, encodeMessage } from "@millrace/core/wire";
import type { SessionState } from "@millrace/core";
import type { Batch } from "@millrace/core/ports";
import type { Cursor, Followed } from "@millrace/core/reading";

/** A viewer when it left: its cursor, and its state. */
export interface Left {
  readonly cursor: string;
  readonly state: SessionState;
}

/** Opens a reader at a cursor. */
export type OpenReader = (
  cursor: string | undefined,
  signal: AbortSignal,
) => AsyncGenerator<Followed, void, undefined>;

export interface ViewerOptions {
  readonly name: string;
  readonly open: OpenReader;
  /** What it knows when it comes. */
  readonly state: SessionState;
  /** Left out: it has never been here. */
  readonly cursor?: string | undefined;
  /** Called with every cursor that it gets. */
  readonly given: (left: Left) => void;
}

/** How long something that must come may take on a busy machine. */
const patienceMs = 60_000;

/** A viewer that watches from a cursor on, and applies messages as any client does. */
export class Viewer implements AsyncDisposable {
  readonly name: string;
  readonly cursor: string | undefined;
  readonly #leave = new AbortController();
  readonly #reading: Promise<void>;
  readonly #given: ViewerOptions["given"];
  /** The messages that it gets until it is up to date; undefined from then on. */
  #welcome: Followed["message"][] | undefined = [];
  #state: SessionState;
  #place: string;
  #failure: Error | undefined;
  #awaited: { readonly isSo: () => boolean; readonly done: () => void } | undefined;

  constructor({ name, open, state, cursor, given }: ViewerOptions) {
    this.name = name;
    this.cursor = cursor;
    this.#state = state;
    this.#place = placeOf(state);
    this.#given = given;
    this.#reading = this.#read(open(cursor, this.#leave.signal)).catch((error: unknown) => {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    });
  }

  get state(): SessionState {
    return this.#state;
  }

  /** The messages that it got before it first was up to date. */
  welcome(): readonly Followed["message"][] {
    const told = this.#welcome ?? [];
    this.#welcome = undefined;
    return told;
  }

  /** Waits for its next message. */
  async told(): Promise<void> {
    await this.#until(() => (this.#welcome?.length ?? 0) > 0, "where something was told");
  }

  /** Waits until it is at a place, which must come. */
  async reach(place: string): Promise<void> {
    await this.#until(() => this.#place === place, place);
  }

  async #until(isSo: () => boolean, place: string): Promise<void> {
    if (this.#failure === undefined && !isSo()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const late = setTimeout(() => this.#fail(new Error("it takes too long")), patienceMs);
      this.#awaited = { isSo, done: resolve };
      await promise;
      clearTimeout(late);
      this.#awaited = undefined;
    }
    if (this.#failure === undefined) return;
    const { name, cursor } = this;
    throw new Error(`${name} from ${cursor ?? "nowhere"} is at ${this.#place}, not ${place}`, {
      cause: this.#failure,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leave.abort();
    await this.#reading;
  }

  async #read(reader: AsyncGenerator<Followed, void, undefined>): Promise<void> {
    for await (const { message, cursor } of reader) this.#take(message, cursor);
    if (!this.#leave.signal.aborted) throw new Error("the reader ended by itself");
  }

  #take(message: Followed["message"], cursor: Cursor): void {
    if ("closedLanes" in message) this.#state = restore(message);
    else {
      const { state, verdict } = apply(this.#state, message);
      if (verdict !== "applied") {
        const told = JSON.stringify(message).slice(0, 300);
        throw new Error(`at ${this.#place} it is told what is ${verdict} to it: ${told}`);
      }
      this.#state = state;
    }
    this.#place = placeOf(this.#state);
    this.#welcome?.push(message);
    this.#given({ cursor: encodeCursor(cursor), state: this.#state });
    if (this.#awaited?.isSo() === true) this.#awaited.done();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#awaited?.done();
  }
}

/** The place of a state, which two states share only if they are the same. */
export function placeOf(state: SessionState): string {
  const { head, lanes } = cursorOf(state);
  return `${head}${lanes.map(({ lane, epoch, seq }) => ` ${lane}:${epoch}-${seq}`).join("")}`;
}

/** All of a state as text: to the last field, open lanes included. */
export function textOf(state: SessionState): string {
  // What a snapshot left out would be missed on both sides.
  const { lanes: _, items: __, ...plain } = state;
  return `${encodeMessage(snapshot(state))}\n${JSON.stringify(plain, sorted)}`;
}

/** Keys have no order, and a database gives them its own. */
function sorted(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1)),
  );
}

/** Operations that bring content to a part: what a late joiner may get one of. */
const contentOps = new Set(["append_text", "append_bytes", "replace_structured", "commit_part"]);

/** The most operations that a restated lane has for one part, besides its opening. */
export function operationsPerPart({ events }: Batch): number {
  const counts = new Map<string, number>();
  let most = 0;
  for (const event of events) {
    if (event.type !== "content_delta" || !contentOps.has(event.delta.op)) continue;
    const count = (counts.get(event.delta.partId) ?? 0) + 1;
    counts.set(event.delta.partId, count);
    most = Math.max(most, count);
  }
  return most;
}

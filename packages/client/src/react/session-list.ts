import type { Cause } from "@millrace/core";
import { MillraceError } from "@millrace/core";
import type { Clock } from "@millrace/core/ports";
import type { SessionDetails } from "../session/types.ts";

/** While a list is shown it is read again so often: sessions of other devices come and go. */
const everyMs = 10_000;

/** After a session of this page has changed the list is read again so soon, once for all of them. */
const soonMs = 200;

/** A list of sessions as a screen shows it. */
export interface SessionListView {
  /** Those with the newest activity first. One that did not change is the same object. */
  readonly sessions: readonly SessionDetails[];
  /** Nothing came yet. */
  readonly loading: boolean;
  /** There are older ones: `loadMore` adds a page of them. */
  readonly more: boolean;
  /** Why the list was refused. Sessions that were read before are still there. */
  readonly error: Cause | undefined;
}

/** One page of sessions, which begins after the `next` of the page before. */
export type ReadPage = (
  after: string | undefined,
) => Promise<{ readonly sessions: readonly SessionDetails[]; readonly next?: string }>;

const empty: SessionListView = { sessions: [], loading: true, more: false, error: undefined };

/** A list of sessions, read while it has subscribers: at once, then from time to time. */
export class SessionListStore {
  readonly #read: ReadPage;
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  #view = empty;
  #pages = 1;
  #unset: () => void = () => undefined;
  /** When the timer is due. */
  #dueAt = Infinity;
  #reading: Promise<void> | undefined;

  constructor(read: ReadPage, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  readonly view = (): SessionListView => this.#view;
  readonly firstView = (): SessionListView => empty;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#readAfter(0);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#clear();
    };
  };

  /** Something has changed: reads soon. */
  readonly touch = (): void => this.#readAfter(soonMs);

  /** Reads now. Settles when it is shown, and never rejects. */
  readonly refresh = async (): Promise<void> => {
    await this.#reading; // it may have begun before what is asked for
    this.#reading ??= this.#readAll().finally(() => (this.#reading = undefined));
    await this.#reading;
    this.#readAfter(everyMs);
  };

  readonly loadMore = (): Promise<void> => {
    if (this.#view.more) this.#pages += 1;
    return this.refresh();
  };

  /** Reads after so long, or sooner if it is due sooner. */
  #readAfter(ms: number): void {
    const dueAt = this.#clock.monotonic() + ms;
    if (this.#listeners.size === 0 || this.#dueAt <= dueAt) return;
    this.#clear();
    this.#dueAt = dueAt;
    this.#unset = this.#clock.after(ms, () => {
      this.#clear();
      const { document } = globalThis as Partial<typeof globalThis>;
      if (ms === everyMs && document?.visibilityState === "hidden") this.#readAfter(everyMs);
      else void this.refresh();
    });
  }

  #clear(): void {
    this.#unset();
    this.#dueAt = Infinity;
  }

  async #readAll(): Promise<void> {
    const sessions: SessionDetails[] = [];
    let after: string | undefined;
    try {
      for (let page = 0; page < this.#pages && (page === 0 || after !== undefined); page += 1) {
        const { sessions: read, next } = await this.#read(after);
        sessions.push(...read);
        after = next;
      }
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code === "closed") return; // nobody looks any more
      const { code, message } = error;
      return this.#show({ ...this.#view, loading: false, error: { code, message } });
    }
    const shared = share(this.#view.sessions, sessions);
    this.#show({ sessions: shared, loading: false, more: after !== undefined, error: undefined });
  }

  #show(view: SessionListView): void {
    const { sessions, loading, more, error } = this.#view;
    const isSame =
      view.sessions === sessions &&
      view.loading === loading &&
      view.more === more &&
      view.error?.code === error?.code;
    if (isSame) return;
    this.#view = view;
    for (const listener of this.#listeners) listener();
  }
}

/** The new list with the old objects where they are equal; the old list if all are. */
function share(
  old: readonly SessionDetails[],
  fresh: readonly SessionDetails[],
): readonly SessionDetails[] {
  const known = new Map(old.map((session) => [session.id, session]));
  const shared = fresh.map((session) => {
    const before = known.get(session.id);
    return JSON.stringify(before) === JSON.stringify(session) ? (before ?? session) : session;
  });
  const isSame = shared.length === old.length && shared.every((each, at) => each === old[at]);
  return isSame ? old : shared;
}

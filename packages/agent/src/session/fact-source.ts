import { MillraceError } from "@millrace/core";
import type { SessionConnection, SessionUid } from "@millrace/core";
import { keepSubscribed, pollHead } from "@millrace/core/reading";
import type { Clock, EventLog, SessionKey, SessionStore } from "@millrace/core/ports";
import { StoreOutage } from "../work/store-outage.ts";

export interface FactSourceOptions {
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly random?: (() => number) | undefined;
  readonly uid: SessionUid;
  readonly key: SessionKey;
  /** Called at each change, with the error if there was one. */
  readonly onChange: (connection: SessionConnection, error: unknown) => void;
  /** Called when the store's disk refuses to write for seconds, and when it does not any more. */
  readonly onRefusal: (refused: { readonly error: unknown } | undefined) => void;
  /** The session is gone, or a port has broken its contract. */
  readonly onFailure: (error: unknown) => void;
}

/** What the source hands announced and polled heads to. */
export interface HeadReader {
  readonly announcedUpTo: (head: number) => void;
  readonly catchUp: () => Promise<void>;
}

/** How long opening waits for the log. A session that is open without it subscribes later. */
const firstMs = 1_000;

/**
 * Keeps an open session informed of facts that other processes store, until it is closed: by a
 * subscription to the log, which is made anew whenever it breaks, and by polling the head, which also
 * finds what the log has lost. The head is polled every 5 s, and every second while the log or the store
 * is away. All sessions of this process share the polls of their store.
 */
export class FactSource {
  /** Repeats the calls of the session while the store is away. */
  readonly outage: StoreOutage;
  readonly #options: FactSourceOptions;
  readonly #closing = new AbortController();
  #reader: Promise<HeadReader> | undefined;
  #subscribed = false;
  #connection: SessionConnection = "live";
  #stopPolling: (() => void) | undefined;

  constructor(options: FactSourceOptions) {
    const { clock, random, onRefusal } = options;
    const { signal } = this.#closing;
    this.#options = options;
    const onChange = (away: { readonly error: unknown } | undefined): void =>
      this.#changed(away?.error);
    this.outage = new StoreOutage({ clock, random, signal, onChange, onRefusal });
    this.outage.isWaitedOut = false;
  }

  get connection(): SessionConnection {
    return this.#connection;
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /**
   * Subscribes, then calls `read`, which reads the session, and hands new heads to its result. Waits up
   * to 1 s for the subscription, so that facts are seldom read twice; a log that is away does not fail
   * it. Rejects if `read` does, or if the log breaks its contract.
   */
  async start<Reader extends HeadReader>(read: () => Promise<Reader>): Promise<Reader> {
    try {
      await this.#subscribe();
      const reading = read();
      this.#reader = reading;
      const reader = await reading;
      this.outage.isWaitedOut = true;
      this.#poll(reader);
      return reader;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    this.#closing.abort();
    this.#stopPolling?.();
  }

  /** Resolves when the first subscription is made or has failed, or after 1 s. */
  async #subscribe(): Promise<void> {
    const { clock, random } = this.#options;
    const first = Promise.withResolvers<void>();
    const done = new AbortController();
    const kept = keepSubscribed<number>({
      subscribe: (signal) => this.#heads(signal),
      onMessage: async (head) => (await this.#reader)?.announcedUpTo(head),
      onChange: (broken) => {
        this.#subscribed = broken === undefined;
        this.#changed(broken?.error);
        first.resolve();
      },
      clock,
      random,
      signal: this.#closing.signal,
    });
    const ended = (): void => {
      // The log was closed, or the session removed, which the next poll finds.
      this.#subscribed = false;
      this.#changed(undefined);
      first.resolve();
    };
    kept.then(ended, (error: unknown) => {
      first.reject(error);
      if (this.#reader !== undefined) this.#options.onFailure(error);
    });
    try {
      await Promise.race([first.promise, clock.sleep(firstMs, done.signal)]);
    } finally {
      done.abort();
      first.promise.catch(() => undefined); // a late failure is for `onFailure`
    }
    this.#changed(undefined);
  }

  async #heads(signal: AbortSignal): Promise<AsyncIterable<number>> {
    const { log, uid, key } = this.#options;
    log.setKey?.(uid, key); // each time: a log keeps the key only while a subscription is open
    const heads = await log.heads(uid, { signal });
    // What was stored before the subscription is not announced to it. The first read comes afterwards.
    await (await this.#reader)?.catchUp();
    return heads;
  }

  #poll(reader: HeadReader): void {
    const { store, clock, uid, onFailure } = this.#options;
    if (this.#closing.signal.aborted) return;
    this.#stopPolling = pollHead(store, clock, {
      uid,
      isUrgent: () => this.#connection !== "live",
      onHead: (head) => {
        this.outage.answered();
        reader.announcedUpTo(head);
      },
      onFailure: (error) => {
        if (error === undefined)
          onFailure(new MillraceError("unknown_session", "the session was removed"));
        else if (MillraceError.is(error)) onFailure(error);
        else this.outage.failed(error);
      },
    });
  }

  #changed(error: unknown): void {
    const log = this.#subscribed ? "live" : "polling";
    const connection = this.outage.isAway ? "waiting" : log;
    if (connection === this.#connection || this.#closing.signal.aborted) return;
    this.#connection = connection;
    this.#options.onChange(connection, error);
  }
}

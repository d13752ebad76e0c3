import { setTimeout as sleep } from "node:timers/promises";
import { encodeMessage } from "@millrace/core/wire";
import type { Fact, SessionUid } from "@millrace/core";
import type { CachedSession } from "./session-cache.ts";

export interface AnnouncementsOptions {
  /** Rejects when Redis is away. */
  readonly publish: (session: CachedSession, text: string) => Promise<unknown>;
}

/** Sessions whose last announcement waits. Further ones are dropped: readers find the head by polling. */
const maxPending = 10_000;
/** The pause before a retry. It doubles each time, up to the most. */
const retryMs = { least: 200, most: 5_000 };
/** About five minutes: every reader has subscribed again or polled the head by then. */
const maxTries = 60;

/** A fact as it is published. */
interface Announcement {
  readonly session: CachedSession;
  readonly n: number;
  readonly text: string;
}

/**
 * Announces facts. Facts that could not be published while Redis was away are retried when it is back:
 * the last one of each session, by which a reader finds that it lacks the others.
 */
export class Announcements {
  readonly #publish: AnnouncementsOptions["publish"];
  readonly #pending = new Map<SessionUid, Announcement>();
  readonly #closed = new AbortController();
  #retrying = false;

  constructor({ publish }: AnnouncementsOptions) {
    this.#publish = publish;
  }

  /** Publishes a fact, or keeps it for a retry. Never rejects. */
  async announce(session: CachedSession, fact: Fact): Promise<void> {
    const text = session.seal.seal("fact", encodeMessage(fact));
    const announcement = { session, n: fact.n, text };
    if (await this.#try(announcement)) return;
    const known = this.#pending.get(session.uid);
    if (known === undefined && this.#pending.size >= maxPending) return;
    if (known === undefined || known.n < fact.n) this.#pending.set(session.uid, announcement);
    void this.#retry();
  }

  /** Forgets a session. */
  drop(uid: SessionUid): void {
    this.#pending.delete(uid);
  }

  close(): void {
    this.#closed.abort();
  }

  async #try({ session, n, text }: Announcement): Promise<boolean> {
    try {
      await this.#publish(session, text);
    } catch {
      return false;
    }
    const { uid } = session;
    if ((this.#pending.get(uid)?.n ?? Infinity) <= n) this.#pending.delete(uid);
    return true;
  }

  async #retry(): Promise<void> {
    if (this.#retrying || this.#closed.signal.aborted) return;
    this.#retrying = true;
    const { least, most } = retryMs;
    for (let tries = 0; tries < maxTries && this.#pending.size > 0; tries += 1) {
      await this.#wait(Math.min(most, least * 2 ** tries));
      if (this.#closed.signal.aborted) break;
      for (const pending of this.#pending.values()) if (!(await this.#try(pending))) break;
    }
    this.#pending.clear();
    this.#retrying = false;
  }

  /** Without keeping the process alive. */
  async #wait(ms: number): Promise<void> {
    const { signal } = this.#closed;
    await sleep(ms, undefined, { ref: false, signal }).catch(() => undefined);
  }
}

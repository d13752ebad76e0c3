import { createHash } from "node:crypto";
import type { SessionUid } from "@millrace/core";
import type { Clock, SessionRecord } from "@millrace/core/ports";
import type { StreamEndReason } from "@millrace/core/wire";
import type { Identity } from "../http/identity.ts";

/** A stream that is open, and what is asked again about it. */
export interface OpenStream {
  readonly who: Identity;
  /** The credentials it was opened with: streams with the same ones share a check. */
  readonly credentials: string;
  readonly sessions: readonly SessionRecord[];
  /** The identity now, by the kept headers. Undefined: no more. */
  readonly identify: () => Promise<Identity | undefined>;
  readonly mayRead: (who: Identity, session: SessionRecord) => Promise<boolean>;
  readonly end: (reason: StreamEndReason, session?: SessionRecord) => void;
}

/** All streams of one identity with the same credentials. */
interface Group {
  readonly streams: Set<OpenStream>;
  readonly over: AbortController;
}

/** How often open streams are asked about, unless it is set. Jittered by ± 12 %. */
const defaultRecheckMs = 25_000;
/** For so long a check may fail before its streams end. */
const failingMs = 5_000;

/**
 * Asks again about streams that are open: a caller that may not read any more is cut off within half a minute,
 * and at once when the identity expires. One check serves all streams of an identity and a session.
 */
export class OpenStreams {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #everyMs: number;
  readonly #groups = new Map<string, Group>();

  constructor(clock: Clock, random: () => number, everyMs: number = defaultRecheckMs) {
    this.#everyMs = everyMs;
    this.#clock = clock;
    this.#random = random;
  }

  /** Adds a stream. The result removes it. */
  add(stream: OpenStream): () => void {
    const key = keyOf(stream);
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { streams: new Set(), over: new AbortController() };
      this.#groups.set(key, group);
      void this.#watch(key, group, stream.who);
    }
    const { streams, over } = group;
    streams.add(stream);
    return () => {
      streams.delete(stream);
      if (streams.size > 0) return;
      this.#forget(key, group);
      over.abort();
    };
  }

  /** Ends the streams of a user, or of all users of a tenant. */
  disconnect(tenant: string, user?: string): void {
    for (const { streams } of this.#groups.values()) {
      for (const stream of streams) {
        const isMeant =
          stream.who.tenant === tenant && (user ?? stream.who.user) === stream.who.user;
        if (isMeant) stream.end("revoked");
      }
    }
  }

  /** Streams may have come meanwhile, of the same identity: those have a group of their own. */
  #forget(key: string, group: Group): void {
    if (this.#groups.get(key) === group) this.#groups.delete(key);
  }

  async #watch(key: string, group: Group, first: Identity): Promise<void> {
    const { signal } = group.over;
    let who = first;
    while (!signal.aborted) {
      const pause = this.#everyMs * (0.88 + 0.24 * this.#random());
      const left = (who.expiresAt ?? Infinity) - this.#clock.now();
      await this.#idle(Math.max(0, Math.min(pause, left)), signal);
      if (signal.aborted) return;
      const now = this.#isExpired(who) ? "expired" : await this.#ask(group, who);
      if (typeof now === "string") {
        // A stream that is opened meanwhile is checked by a group of its own.
        this.#forget(key, group);
        return endAll(group, now);
      }
      who = now;
    }
  }

  /** The identity as it is now, or why its streams end. After 5 s without an answer they are recycled. */
  async #ask(group: Group, who: Identity): Promise<Identity | StreamEndReason> {
    const begun = this.#clock.monotonic();
    for (;;) {
      const [stream] = group.streams;
      if (stream === undefined) return who;
      try {
        const now = await stream.identify();
        // A timer may fire a millisecond early, so that the credentials expire during the check.
        if (now === undefined) return this.#isExpired(who) ? "expired" : "revoked";
        if (now.tenant !== who.tenant || now.user !== who.user) return "revoked";
        await askForSessions(group, now);
        return now;
      } catch {
        if (this.#clock.monotonic() - begun >= failingMs) return "recycled";
        await this.#idle(1_000, group.over.signal);
      }
    }
  }

  #isExpired({ expiresAt = Infinity }: Identity): boolean {
    return expiresAt <= this.#clock.now();
  }

  #idle(ms: number, signal: AbortSignal): Promise<void> {
    const { idle, sleep } = this.#clock;
    return (idle ?? sleep)(ms, signal);
  }
}

/** Asks once for each session that any of the streams shows. */
async function askForSessions({ streams }: Group, who: Identity): Promise<void> {
  const answers = new Map<SessionUid, boolean>();
  for (const stream of streams) {
    for (const session of stream.sessions) {
      const known = answers.get(session.uid);
      const mayRead = known ?? (await stream.mayRead(who, session));
      answers.set(session.uid, mayRead);
      if (mayRead) continue;
      stream.end("revoked", stream.sessions.length === 1 ? undefined : session);
    }
  }
}

function endAll({ streams }: Group, reason: StreamEndReason): void {
  for (const stream of streams) stream.end(reason);
}

function keyOf({ who, credentials }: OpenStream): string {
  const { tenant, user } = who;
  const text = `${tenant.length}:${tenant}:${user.length}:${user}:${credentials}`;
  return createHash("sha256").update(text).digest("base64url");
}

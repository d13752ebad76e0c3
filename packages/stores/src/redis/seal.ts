import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { MillraceError } from "@millrace/core";
import type { SessionKey, SessionUid } from "@millrace/core";

/** What a text says. A text that was sealed as one sort does not open as another. */
export type Sort = "fact" | "batch" | "nudge" | "removal";

/** 128 bits of the HMAC: a forger that may guess as fast as Redis takes messages never meets one. */
const macBytes = 16;
/** The same in base64url. */
const macLength = 22;
const removed = "removed";

/**
 * Seals what a session has in Redis, where any program may write: each text has the MAC of its sort,
 * its session and itself before it, under a key that only the store gives out. A text without the
 * right one is not of this session.
 */
export class Seal {
  readonly #uid: SessionUid;
  readonly #key: KeyObject;

  constructor(uid: SessionUid, key: SessionKey) {
    this.#uid = uid;
    this.#key = createSecretKey(key, "base64url");
  }

  seal(sort: Sort, text: string): string {
    return this.#mac(sort, text) + text;
  }

  /** The text that was sealed. Undefined for anything that was not, or not as this, or not here. */
  open(sort: Sort, sealed: string): string | undefined {
    if (sealed.length < macLength) return undefined;
    const text = sealed.slice(macLength);
    const given = Buffer.from(sealed.slice(0, macLength), "latin1");
    const own = Buffer.from(this.#mac(sort, text), "latin1");
    return timingSafeEqual(given, own) ? text : undefined;
  }

  /** What tells the readers of a channel that its session was removed. */
  removal(): string {
    return this.seal("removal", removed);
  }

  isRemoval(sealed: string): boolean {
    const fits = sealed.length === macLength + removed.length;
    return fits && this.open("removal", sealed) === removed;
  }

  /** Throws if a session is given another key than it has: two stores can't share a session. */
  check(key: SessionKey): void {
    if (this.#key.equals(createSecretKey(key, "base64url"))) return;
    throw new MillraceError(
      "invalid_definition",
      `the session ${this.#uid} has another key already: use the key that its store gives out`,
    );
  }

  #mac(sort: Sort, text: string): string {
    const mac = createHmac("sha256", this.#key).update(`${sort}\n${this.#uid}\n${text}`);
    return mac.digest().toString("base64url", 0, macBytes);
  }
}

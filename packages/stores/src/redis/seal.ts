import { hash, timingSafeEqual } from "node:crypto";
import { MillraceError } from "@millrace/core";
import type { SessionUid } from "@millrace/core";
import type { SessionKey } from "@millrace/core/ports";

/** What a text is. A text that was sealed as one sort does not open as another. */
export type Sort = "fact" | "batch" | "nudge" | "removal";

/** Characters of base64url, with 132 of the HMAC's 256 bits: too many to guess. */
export const macLength = 22;
/** Bytes that SHA-256 takes at a time. */
const blockLength = 64;
const removed = "removed";

/**
 * Seals the texts of a session in Redis, where any program may write. Each text is preceded by a MAC of
 * its sort, its session and itself, under a key that only the store gives out. A text without the right
 * MAC is not of this session.
 */
export class Seal {
  readonly #uid: SessionUid;
  readonly #key: SessionKey;
  /** How the HMAC's inner hash begins for each sort: its first block, the sort, the uid. */
  readonly #inner: Readonly<Record<Sort, string>>;
  /** The first block of its outer hash, and room for the inner one. */
  readonly #outer: Buffer;

  constructor(uid: SessionUid, key: SessionKey) {
    this.#uid = uid;
    this.#key = key;
    const block = blockOf(key, 0x36);
    this.#inner = {
      fact: `${block}fact\n${uid}\n`,
      batch: `${block}batch\n${uid}\n`,
      nudge: `${block}nudge\n${uid}\n`,
      removal: `${block}removal\n${uid}\n`,
    };
    this.#outer = Buffer.alloc(blockLength + 32);
    this.#outer.write(blockOf(key, 0x5c), "latin1");
  }

  seal(sort: Sort, text: string): string {
    return this.#mac(sort, text) + text;
  }

  /** The text that was sealed. Undefined if it was not sealed as this sort, for this session. */
  open(sort: Sort, sealed: string): string | undefined {
    if (sealed.length < macLength) return undefined;
    const text = sealed.slice(macLength);
    const given = Buffer.from(sealed.slice(0, macLength), "latin1");
    const own = Buffer.from(this.#mac(sort, text), "latin1");
    return timingSafeEqual(given, own) ? text : undefined;
  }

  /** The notice that ends a channel's subscribers because the session was removed. */
  removal(): string {
    return this.seal("removal", removed);
  }

  isRemoval(sealed: string): boolean {
    const fits = sealed.length === macLength + removed.length;
    return fits && this.open("removal", sealed) === removed;
  }

  /** Throws if a session is given another key than it has: two stores can't share a session. */
  check(key: SessionKey): void {
    if (this.#key === key) return;
    throw new MillraceError(
      "invalid_definition",
      `the session ${this.#uid} has another key already: use the key that its store gives out`,
    );
  }

  /**
   * HMAC-SHA-256 by two calls of `hash`. Node's `createHmac` makes an object with a stream and costs
   * more than twice as much, for every batch. The key is ASCII, so its blocks are too.
   */
  #mac(sort: Sort, text: string): string {
    const inner = hash("sha256", this.#inner[sort] + text, "binary"); // that is latin1
    this.#outer.write(inner, blockLength, "latin1");
    return hash("sha256", this.#outer, "base64url").slice(0, macLength);
  }
}

/** The key XORed with a pad, as the first block of one of HMAC's two hashes. */
function blockOf(key: SessionKey, pad: number): string {
  const codes = Array.from({ length: blockLength }, (_, at) =>
    at < key.length ? key.charCodeAt(at) ^ pad : pad,
  );
  return String.fromCharCode(...codes);
}

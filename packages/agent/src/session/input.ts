import type { Actor } from "@millrace/core";

export type { Acceptance, BlobLike, Content, Sent, SentInput } from "@millrace/core/reading";

/** Options of every call that sends something. */
export interface SendOptions {
  /**
   * An idempotency key: 1 to 128 letters, digits or "-". The same key with the same content is stored
   * once, from any process. Left out: every call is stored.
   */
  readonly key?: string | undefined;
  /** The person for whom it is sent. Stored with the input. */
  readonly actor?: Actor | undefined;
}

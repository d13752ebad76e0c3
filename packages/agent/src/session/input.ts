import type { Actor, InputId, MillraceError } from "@millrace/core";

/** Text, or text and files in order. */
export type Content = string | readonly (string | BlobLike)[];

/** A file, a blob, or bytes with their type. By structure, so that no DOM types are needed. */
export interface BlobLike {
  readonly type: string;
  readonly size: number;
  /** The name of a file. With it the content is sent as a file. */
  readonly name?: string | undefined;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** An input or a decision that was sent to a session. They are stored in the order in which they are sent. */
export interface Sent {
  /**
   * Settles once it is stored or refused. Never rejects. While the store is away it waits, until the
   * session is closed or, for a prompt, its signal is aborted.
   */
  readonly accepted: Promise<Acceptance>;
}

/** An input that was sent, with its id in the queue. */
export interface SentInput extends Sent {
  readonly id: InputId;
}

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

/** Whether something that was sent is stored, or why it is not. */
export type Acceptance =
  | { readonly accepted: true }
  | { readonly accepted: false; readonly error: MillraceError };

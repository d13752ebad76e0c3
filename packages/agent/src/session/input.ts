import type { Actor, InputId, MillraceError } from "@millrace/core";

/** Text, or text and files in order. */
export type Content = string | readonly (string | BlobLike)[];

/** A file, a blob, or bytes with their type. By structure, so that no DOM types are needed. */
export interface BlobLike {
  readonly type: string;
  readonly size: number;
  /** A file's, which then is sent as a file under that name. */
  readonly name?: string | undefined;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** Something sent to a session. What is sent takes effect in the order in which it was sent. */
export interface Sent {
  /** Settles once it is stored, or refused; never rejects. */
  readonly accepted: Promise<Acceptance>;
}

/** An input that was sent, with the id under which it waits until a run takes it up. */
export interface SentInput extends Sent {
  readonly id: InputId;
}

/** What every call that sends something takes. */
export interface SendOptions {
  /**
   * The caller's name for this call, kept for repeats: 1 to 128 letters, digits or "-". The same key
   * with the same content is stored once, in whichever process. Left out: each call is another one.
   */
  readonly key?: string | undefined;
  /** The person for whom it is sent. Stored with it. */
  readonly actor?: Actor | undefined;
}

/** Whether something that was sent is stored, or why it is not. */
export type Acceptance =
  | { readonly accepted: true }
  | { readonly accepted: false; readonly error: MillraceError };

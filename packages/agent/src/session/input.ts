import type { InputId, MillraceError } from "@millrace/core";

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
export interface SentInput {
  readonly id: InputId;
  /** Settles once it is stored, or refused; never rejects. */
  readonly accepted: Promise<Acceptance>;
}

export type Acceptance =
  | { readonly accepted: true }
  | { readonly accepted: false; readonly error: MillraceError };

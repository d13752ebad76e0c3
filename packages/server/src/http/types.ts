import type { SessionRecord } from "@millrace/core/ports";

/** The metadata of a session. */
export type Metadata = SessionRecord["metadata"];

/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

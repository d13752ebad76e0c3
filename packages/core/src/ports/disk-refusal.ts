/** What is wrong with a disk that takes no writes until it is repaired, by the system's error code. */
const meanings: ReadonlyMap<unknown, string> = new Map([
  ["ENOSPC", "is full (ENOSPC): free space on it"],
  ["EDQUOT", "is full for this user (EDQUOT): free space, or raise the quota"],
  ["EFBIG", "takes no longer file (EFBIG): raise the limit on the size of files"],
  ["EROFS", "is read-only (EROFS): mount it for writing"],
  ["EIO", "fails (EIO): look at the system's log, and replace it"],
]);

/**
 * Why the disk of a store refuses to write and what to do about that, if that is the error. Such a write
 * is not worth waiting for: it takes a person.
 */
export function diskRefusal(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const meaning = meanings.get(code);
  return meaning === undefined ? undefined : `the disk of the store ${meaning}`;
}

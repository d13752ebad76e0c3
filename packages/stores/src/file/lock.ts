import { randomBytes } from "node:crypto";
import { lstatSync } from "node:fs";
import { link, open, rename, rm, unlink } from "node:fs/promises";
import { MillraceError } from "@millrace/core";
import { lifeOf, ownHolder, parseHolder } from "./holder.ts";
import type { Holder } from "./holder.ts";
import { hasCode } from "./folder.ts";
import { readOwn } from "./own-file.ts";

/** The right to write a session, for as long as the lock's file is the one that was created. */
export interface Lock {
  readonly token: string;
  /** Whether the lock is still held. One `stat`, synchronous. */
  readonly holds: () => boolean;
  /** Releases the lock. May be repeated. Never removes the lock of another process. */
  readonly release: () => Promise<void>;
}

/**
 * Takes the lock, or throws `session_locked`. The lock of a process that has died is taken over; of
 * any number of takers exactly one succeeds. Never waits for a holder.
 */
export async function acquireLock(path: string): Promise<Lock> {
  // Not from a `MakeId`: ids that count would be the same in two processes.
  const self = ownHolder(randomBytes(8).toString("hex"));
  const own = `${path}.${self.token}.tmp`;
  const file = await open(own, "wx", 0o600);
  try {
    await file.writeFile(`${JSON.stringify(self)}\n`);
    await file.sync(); // a lock that exists is whole, also after a power failure
    const made = await file.stat({ bigint: true });
    await seize(own, path, { self, depth: 0 });
    return createLock(path, self.token, made);
  } finally {
    await file.close();
    await rm(own, { force: true });
  }
}

function createLock(
  path: string,
  token: string,
  made: { readonly ino: bigint; readonly mtimeNs: bigint; readonly size: bigint },
): Lock {
  const holds = (): boolean => {
    const now = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return now?.ino === made.ino && now.mtimeNs === made.mtimeNs && now.size === made.size;
  };
  const release = async (): Promise<void> => {
    if (holds()) await rm(path, { force: true });
  };
  return { token, holds, release };
}

/** Above this depth, so many takers have died in a row that an operator should look. */
const maxDepth = 6;
const maxTries = 50;

/**
 * Puts `own` in the place of a lock. A free lock is taken by a link, which fails if the lock exists.
 * A lock of a dead holder is replaced. For that the process first takes the right to succeed that very
 * holder; the right is a lock too, taken by this function. It then reads the lock once more and only
 * then replaces it. Without that right, two takers could both see the dead holder, and the second
 * would replace the lock of the first.
 */
async function seize(
  own: string,
  path: string,
  { self, depth }: { readonly self: Holder; readonly depth: number },
): Promise<void> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    if (await tryToLink(own, path)) return;
    const holder = await readHolder(path);
    if (holder === undefined) continue; // released meanwhile
    const life = lifeOf(holder, self);
    if (life !== "dead" || depth === maxDepth) throw locked(path, holder, life);
    const right = `${path}.${holder.token}`;
    await seize(own, right, { self, depth: depth + 1 });
    const now = await readHolder(path);
    if (now?.token === holder.token) return rename(right, path);
    await unlink(right); // another process has succeeded that holder already: this right is void
  }
  throw new MillraceError("session_locked", `too many processes compete for the lock ${path}`);
}

async function tryToLink(own: string, path: string): Promise<boolean> {
  try {
    await link(own, path);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

async function readHolder(path: string): Promise<Holder | undefined> {
  let text: string;
  try {
    text = await readOwn(path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    if (!MillraceError.is(error)) throw error;
    text = ""; // a link or a pipe
  }
  const holder = parseHolder(text);
  if (holder !== undefined) return holder;
  throw new MillraceError("session_locked", `the lock ${path} was not written by a store`);
}

function locked(path: string, { pid, machine }: Holder, life: string): MillraceError {
  const where = life === "elsewhere" ? ` on ${machine}, which can't be seen from here` : "";
  return new MillraceError("session_locked", `process ${pid}${where} holds the lock ${path}`);
}

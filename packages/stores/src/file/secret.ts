import { createHmac, randomBytes } from "node:crypto";
import { join } from "node:path";
import { MillraceError } from "@millrace/core";
import { sessionKey } from "@millrace/core/writing";
import type { SessionUid } from "@millrace/core";
import type { SessionKey } from "@millrace/core/ports";
import { createWhole, hasCode, makeFolder } from "./folder.ts";
import type { Fsync } from "./folder.ts";
import { readOwn } from "./own-file.ts";

/** No session's file has this extension. */
const name = "secret.key";

/**
 * The secret of a folder of sessions, from which their keys are derived: 32 random bytes in one file,
 * readable by its owner alone. Sessions from before there were keys thereby have one, and their files
 * stay unchanged. The secret is created when the first key is needed. If its file is lost, a new one is
 * created; programs that have a session open must then open it again to receive each other's events.
 */
export class FolderSecret {
  readonly #folder: string;
  readonly #fsync: Fsync;
  #secret: Promise<Buffer> | undefined;

  constructor(folder: string, fsync: Fsync) {
    this.#folder = folder;
    this.#fsync = fsync;
  }

  /** A session's key. Uids are never used twice, so neither are keys. */
  async keyOf(uid: SessionUid): Promise<SessionKey> {
    this.#secret ??= this.#open().catch((error: unknown) => {
      this.#secret = undefined; // the next call tries again
      throw error;
    });
    const mac = createHmac("sha256", await this.#secret).update(`session key\n${uid}`);
    return sessionKey(mac.digest("base64url"));
  }

  /** Reads the secret, or creates it. Of two processes that create it at once one succeeds. */
  async #open(): Promise<Buffer> {
    const path = join(this.#folder, name);
    const found = await readSecret(path);
    if (found !== undefined) return found;
    await makeFolder(this.#folder, this.#fsync);
    await createWhole(
      path,
      [Buffer.from(`${randomBytes(32).toString("base64url")}\n`)],
      this.#fsync,
    );
    const made = await readSecret(path);
    if (made !== undefined) return made;
    throw new MillraceError("broken_port", `${path} was removed as soon as it was created`);
  }
}

async function readSecret(path: string): Promise<Buffer | undefined> {
  try {
    const text = (await readOwn(path)).trimEnd();
    const bytes = Buffer.from(text, "base64url");
    if (bytes.length === 32 && bytes.toString("base64url") === text) return bytes;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
  throw new MillraceError("corrupt_session", `${path} does not hold 32 bytes in base64url`);
}

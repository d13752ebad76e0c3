import { createHash, randomBytes } from "node:crypto";
import { MillraceError } from "@millrace/core";
import { blobPieces, checkBlobPut } from "@millrace/core/blobs";
import type { BlobStore, StoredBlob } from "@millrace/core/ports";
import type { SessionUid } from "@millrace/core";
import { pieceSize } from "./blob-statements.ts";
import type { BlobStatements } from "./blob-statements.ts";
import { isTaken } from "./connection.ts";
import type { Connection, Rows } from "./connection.ts";

/** What the calls for one place need. */
export interface BlobContext {
  readonly connection: Connection;
  readonly statements: BlobStatements;
  readonly uid: SessionUid;
  readonly tenant: string;
}

/** A blob and the upload that its pieces are of. */
export interface BlobRow {
  readonly upload: string;
  readonly blob: StoredBlob;
}

type PutAnswer = Awaited<ReturnType<BlobStore["put"]>>;

export function readBlobRow(row: Rows[number]): BlobRow {
  const blob = {
    hash: `sha256-${String(row["hash"])}`,
    size: Number(row["size"]),
    mediaType: String(row["media_type"]),
  };
  return { upload: String(row["upload"]), blob };
}

/** `BlobStore.put`: pieces first, and the hash that makes them a blob at last. */
export async function putBlob(
  context: BlobContext,
  bytes: Parameters<BlobStore["put"]>[1],
  options: Parameters<BlobStore["put"]>[2],
): Promise<PutAnswer> {
  const { mediaType, limit, digest } = checkBlobPut(options);
  const upload = new Upload(context, mediaType);
  let kept = false;
  try {
    await upload.begin();
    const sum = createHash("sha256");
    for await (const piece of blobPieces(bytes)) {
      sum.update(piece);
      if (upload.size + piece.length > limit) return { outcome: "too_large", limit };
      await upload.add(piece);
    }
    await upload.flush();
    const own = sum.digest();
    const hash = `sha256-${own.toString("hex")}`;
    if (digest !== undefined && digest !== hash) return { outcome: "digest_mismatch", hash };
    const answer = await upload.finish(own);
    kept = answer.outcome === "stored";
    return answer;
  } finally {
    // If this fails too, a sweep removes it later: nothing finds it meanwhile.
    if (!kept) await upload.discard().catch(() => undefined);
  }
}

/** One put. Every statement may be repeated, so that one whose answer was lost is sent again. */
class Upload {
  readonly #context: BlobContext;
  readonly #mediaType: string;
  readonly #id = randomBytes(16).toString("base64url");
  #waiting = Buffer.alloc(0);
  #count = 0;
  size = 0;

  constructor(context: BlobContext, mediaType: string) {
    this.#context = context;
    this.#mediaType = mediaType;
  }

  async begin(): Promise<void> {
    const { uid, tenant } = this.#context;
    const [, begun = []] = await this.#send(
      ["begin", this.#id, uid, tenant, this.#mediaType],
      ["begun", this.#id, tenant],
    );
    if (begun.length === 0) throw this.#unknown();
  }

  /** Stores what fills whole pieces, and keeps the rest. Less than a piece and what is given is in memory. */
  async add(bytes: Uint8Array): Promise<void> {
    this.size += bytes.length;
    let given = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    while (this.#waiting.length + given.length >= pieceSize) {
      const room = pieceSize - this.#waiting.length;
      await this.#store(Buffer.concat([this.#waiting, given.subarray(0, room)]));
      this.#waiting = Buffer.alloc(0);
      given = given.subarray(room);
    }
    // A copy: the caller may use its buffer again.
    if (given.length > 0) this.#waiting = Buffer.concat([this.#waiting, given]);
  }

  async flush(): Promise<void> {
    if (this.#waiting.length > 0) await this.#store(this.#waiting);
  }

  async finish(hash: Buffer): Promise<PutAnswer> {
    const { uid, tenant } = this.#context;
    for (;;) {
      try {
        const [rows = []] = await this.#send(["finish", this.#id, tenant, hash, this.size]);
        if (rows.length === 0) throw this.#unknown();
        const name = `sha256-${hash.toString("hex")}`;
        const blob = { hash: name, size: this.size, mediaType: this.#mediaType };
        return { outcome: "stored", blob };
      } catch (error) {
        if (!isTaken(error)) throw error;
        const [[row] = []] = await this.#send(["renew", uid, tenant, hash]);
        if (row !== undefined) return { outcome: "exists", blob: readBlobRow(row).blob };
        // It was removed in between: this upload takes its place.
      }
    }
  }

  async discard(): Promise<void> {
    await this.#send(["discard", this.#id, this.#context.tenant]);
  }

  async #store(bytes: Buffer): Promise<void> {
    try {
      await this.#send(["add", this.#id, this.#count, this.#context.tenant, bytes]);
    } catch (error) {
      throw isUnreferenced(error) ? this.#unknown() : error;
    }
    this.#count += 1;
  }

  #send(
    ...named: readonly (readonly [keyof BlobStatements, ...unknown[]])[]
  ): Promise<readonly Rows[]> {
    const { connection, statements } = this.#context;
    const bound = named.map(([name, ...values]) => ({ statement: statements[name], values }));
    return connection.retrying(() => connection.once(...bound));
  }

  #unknown(): MillraceError {
    const { uid } = this.#context;
    return new MillraceError("unknown_session", `there is no session ${uid} any more`);
  }
}

/** True if a row that was referred to is gone. */
function isUnreferenced(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "23503";
}

export function removedBlob(): MillraceError {
  return new MillraceError("unknown_blob", "the blob was removed while it was read");
}

import { systemClock } from "@millrace/core/memory";
import { checkBlobScope, checkBlobRange } from "@millrace/core/blobs";
import type { BlobSweepOptions, BlobSwept } from "@millrace/core/blobs";
import type { BlobStore, Clock } from "@millrace/core/ports";
import { isBlobHash, sessionUid } from "@millrace/core/writing";
import type { Pool } from "pg";
import { blobStatementsOf, pieceSize } from "./blob-statements.ts";
import type { BlobStatements } from "./blob-statements.ts";
import { putBlob, readBlobRow, removedBlob } from "./blob-upload.ts";
import type { BlobContext, BlobRow } from "./blob-upload.ts";
import { checkPostgresBlobsOptions } from "./check-options.ts";
import { Connection } from "./connection.ts";
import type { Rows, SharedPool } from "./connection.ts";
import { checkTenant, openPool, refusePlainPool } from "./open-pool.ts";
import { StoreClock } from "./store-clock.ts";

/** Where blobs are kept: beside the sessions, in the database that `postgresStore` has migrated. */
export interface PostgresBlobsOptions {
  /** As in `postgresStore`. */
  readonly url?: string | undefined;
  /** A pool of the caller, which this store does not end. It may be that of the sessions. */
  readonly pool?: Pool | undefined;
  /** As in `postgresStore`. */
  readonly allowPlain?: boolean | undefined;
  /** `millrace` by default. */
  readonly schema?: string | undefined;
  /** The tenant whose places `sweep` looks at. `default` by default. All other calls name theirs. */
  readonly tenant?: string | undefined;
  /** `sweep` looks at the places of all tenants. The role needs the rights of a `workerRole`. */
  readonly acrossTenants?: boolean | undefined;
  readonly clock?: Clock | undefined;
}

/** A BlobStore in a PostgreSQL database. */
export interface PostgresBlobs extends BlobStore, AsyncDisposable {
  /** Ends the store's own pool. Later calls throw `closed`. */
  readonly close: () => Promise<void>;
}

/** Places that one query of a sweep lists. */
const placesAtOnce = 500;

/** Connections of tenants that are remembered. Each is a few fields. */
const maxConnections = 1_000;

/**
 * The BlobStore of many processes: rows of 256 KiB, each stored by a statement of its own, so that a slow
 * upload holds no connection and no transaction. The row that names them gets its hash at last; until then
 * nothing finds them. A session that is removed takes its blobs along, in the same transaction.
 */
export function postgresBlobs(options: PostgresBlobsOptions = {}): PostgresBlobs {
  checkPostgresBlobsOptions(options, postgresBlobs);
  const { schema = "millrace", tenant: sweeps = "default", clock = systemClock } = options;
  checkTenant(sweeps);
  const statements = blobStatementsOf(schema);
  const pool = options.pool ?? openPool(options);
  if (options.pool !== undefined) refusePlainPool(pool, options.allowPlain);
  const ownTenant = options.pool === undefined ? sweeps : undefined;
  const shared: SharedPool = { pool, ownTenant, clock, storeClock: new StoreClock(clock) };
  const connections = new Map<string, Connection>();
  let closed = false;
  const connectionOf = (tenant: string): Connection => {
    const known = connections.get(tenant);
    if (known !== undefined) return known;
    if (connections.size >= maxConnections) connections.clear();
    const connection = new Connection(shared, checkTenant(tenant));
    if (closed) connection.close();
    connections.set(tenant, connection);
    return connection;
  };
  const contextOf = (place: Parameters<BlobStore["find"]>[0]): BlobContext => {
    const own = checkBlobScope(place);
    return { ...own, statements, connection: connectionOf(own.tenant) };
  };
  const close = async (): Promise<void> => {
    if (closed) return;
    closed = true;
    for (const connection of connections.values()) connection.close();
    if (options.pool === undefined) await pool.end();
  };
  return {
    ...placeCalls(contextOf),
    sweep: (sweeping) => {
      const across = options.acrossTenants === true;
      const list = (after: string): Promise<Rows> =>
        oldScopes({ connection: connectionOf(sweeps), statements, across }, sweeps, {
          after,
          ageMs: sweeping.ageMs,
        });
      return sweepAll(list, contextOf, sweeping);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The calls that name a place. */
function placeCalls(
  contextOf: (place: Parameters<BlobStore["find"]>[0]) => BlobContext,
): Omit<BlobStore, "sweep"> {
  const rowOf = async (
    context: BlobContext,
    hash: string,
    renew = false,
  ): Promise<BlobRow | undefined> => {
    if (!isBlobHash(hash)) return undefined;
    const [[row] = []] = await ask(context, renew ? "renew" : "find", digestOf(hash));
    return row && readBlobRow(row);
  };
  return {
    put: async (place, bytes, options) => putBlob(contextOf(place), bytes, options),
    find: async (place, hash, { renew = false } = {}) =>
      (await rowOf(contextOf(place), hash, renew))?.blob,
    read: async (place, hash, range) => {
      const context = contextOf(place);
      const row = await rowOf(context, hash);
      if (row === undefined) return undefined;
      return readPieces(context, row.upload, checkBlobRange(row.blob.size, range));
    },
    total: async (place) => {
      const [[row] = []] = await ask(contextOf(place), "total");
      return Number(row?.["total"] ?? 0);
    },
    remove: async (place) => {
      await ask(contextOf(place), "remove");
    },
  };
}

function digestOf(hash: string): Buffer {
  return Buffer.from(hash.slice("sha256-".length), "hex");
}

/** Sends a statement about a place, until it is answered. */
function ask(
  { connection, statements, uid, tenant }: BlobContext,
  name: keyof BlobStatements,
  ...values: readonly unknown[]
): Promise<readonly Rows[]> {
  const bound = { statement: statements[name], values: [uid, tenant, ...values] };
  return connection.retrying(() => connection.once(bound));
}

/** Each piece is a query of its own: a reader that is slow, or never comes back, holds no connection. */
async function* readPieces(
  { connection, statements, tenant }: BlobContext,
  upload: string,
  { start, end }: { readonly start: number; readonly end: number },
): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = start; at < end;) {
    const n = Math.floor(at / pieceSize);
    const from = at - n * pieceSize;
    const length = Math.min(pieceSize - from, end - at);
    const values = [upload, tenant, n, from + 1, length];
    const [[row] = []] = await connection.retrying(() =>
      connection.once({ statement: statements.read, values }),
    );
    const bytes = row?.["bytes"] as Buffer | undefined; // a bytea column
    if (bytes?.length !== length) throw removedBlob();
    yield new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    at += length;
  }
}

async function oldScopes(
  {
    connection,
    statements,
    across,
  }: Pick<BlobContext, "connection" | "statements"> & { readonly across: boolean },
  tenant: string,
  { after, ageMs }: { readonly after: string; readonly ageMs: number },
): Promise<Rows> {
  const values = [ageMs, after, placesAtOnce];
  const bound = across
    ? { statement: statements.oldAcross, values }
    : { statement: statements.old, values: [...values, tenant] };
  const [rows = []] = await connection.retrying(() => connection.once(bound));
  return rows;
}

async function sweepAll(
  list: (after: string) => Promise<Rows>,
  contextOf: (place: Parameters<BlobStore["find"]>[0]) => BlobContext,
  { ageMs, named }: BlobSweepOptions,
): Promise<BlobSwept> {
  const swept = { removed: 0, bytes: 0 };
  for (let after = ""; ;) {
    const rows = await list(after);
    for (const row of rows) {
      const place = { uid: sessionUid(String(row["uid"])), tenant: String(row["tenant"]) };
      const context = contextOf(place);
      const hashes = await named(place);
      const gone = hashes === undefined ? await ask(context, "remove") : undefined;
      if (hashes !== undefined)
        await ask(context, "keep", [...hashes].filter(isBlobHash).map(digestOf));
      const [removed = []] = gone ?? (await ask(context, "sweep", ageMs));
      // An upload that was cut off has no size.
      const sizes = removed.flatMap(({ size }) => (size === null ? [] : [Number(size)]));
      swept.removed += sizes.length;
      swept.bytes += sizes.reduce((sum, size) => sum + size, 0);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < placesAtOnce) return swept;
    after = String(last["uid"]);
  }
}

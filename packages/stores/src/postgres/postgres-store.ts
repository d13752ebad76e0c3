import { randomBytes } from "node:crypto";
import { MillraceError } from "@millrace/core";
import type { Clock, MakeId, SessionStore } from "@millrace/core/ports";
import { acceptCall, appendCall, claimCall, commitCall, openCall } from "@millrace/core/store-kit";
import type { Floor } from "@millrace/core/store-kit";
import { sessionId } from "@millrace/core/writing";
import { warn } from "@millrace/core/checks";
import { randomId, systemClock } from "@millrace/core/memory";
import type { Pool } from "pg";
import { checkPostgresOptions } from "./check-options.ts";
import { Connection } from "./connection.ts";
import type { SharedPool } from "./connection.ts";
import { createSession, forkSession } from "./copy.ts";
import { driverIndex } from "./drivers.ts";
import { checkTenant, openPool, refusePlainPool } from "./open-pool.ts";
import { migrate } from "./migrate.ts";
import type { MigrateOptions } from "./migrate.ts";
import { readingCalls, askerOf } from "./reading.ts";
import { recordCalls } from "./records.ts";
import { StoreClock } from "./store-clock.ts";
import { statementsOf } from "./statements.ts";
import type { Statements } from "./statements.ts";
import { TenantStores } from "./tenant-stores.ts";
import { tombstoneCalls } from "./tombstones.ts";
import { verifySession } from "./verify.ts";
import type { SessionVerdict, PostgresVerifyOptions } from "./verify.ts";
import { SessionWriter, onlyRow } from "./writing.ts";
import type { ReadContext } from "./reading.ts";

/** How a PostgreSQL store does its work. All of it may be left out. */
export interface PostgresStoreOptions {
  /** The address of the primary. `DATABASE_URL` of the environment by default. Not used with a pool. */
  readonly url?: string | undefined;
  /**
   * A pool of the caller, which the store does not end. Create it with `pipeline: true`: otherwise each
   * call takes as many round trips as it has statements. Stores of several tenants may share it.
   */
  readonly pool?: Pool | undefined;
  /**
   * Whether the database may be reached without TLS at an address that is not this machine's. `false` by
   * default: a `url` or a `pool` of that sort throws `invalid_definition`.
   */
  readonly allowPlain?: boolean | undefined;
  /** `millrace` by default. */
  readonly schema?: string | undefined;
  /** The owner of the sessions: nothing of another tenant is read or changed. `default` by default. */
  readonly tenant?: string | undefined;
  /**
   * For workers: `drivers.due` lists sessions of all tenants, each with its `tenant`, `heads` takes
   * uids of all tenants, and `drivers.beat` is seen by all. Nothing else reaches across. The role needs
   * the rights of a `workerRole`.
   */
  readonly acrossTenants?: boolean | undefined;
  readonly clock?: Clock | undefined;
  readonly makeId?: MakeId | undefined;
}

/** A SessionStore in a PostgreSQL database, and what only that can do. */
export interface PostgresStore extends SessionStore, AsyncDisposable {
  /** Brings the schema to this release. May be repeated, and run by many processes at once. */
  readonly migrate: (options?: Omit<MigrateOptions, "schema">) => Promise<void>;
  /**
   * The store of another tenant over the same pool and clock, which is cheap. Closing it leaves the
   * pool; closing this one closes it.
   */
  readonly forTenant: (tenant: string) => PostgresStore;
  /** The one tenant whose sessions `drivers.due` lists. Undefined with `acrossTenants`: all. */
  readonly ownTenant: string | undefined;
  /** Checks a session for changes that no writer made. Throws `unknown_session`. */
  readonly verify: (sessionId: string, options?: PostgresVerifyOptions) => Promise<SessionVerdict>;
  /** Waits for calls under way and ends the store's own pool. Later calls throw `closed`. */
  readonly close: () => Promise<void>;
}

/**
 * The SessionStore of many processes: all rules hold by compare-and-set on one row and by unique keys,
 * at READ COMMITTED. A call is one transaction: one round trip if this process wrote the session last,
 * two otherwise. Connections of its own carry the tenant, so that a single statement goes bare. When the connection is lost, a call is retried, six tries in all within about 1.5 s of
 * pauses; a retry finds out whether an earlier try was stored. After the last it throws the driver's
 * error.
 */
export function postgresStore(options: PostgresStoreOptions = {}): PostgresStore {
  checkPostgresOptions(options, postgresStore);
  const { schema = "millrace", tenant = "default", clock = systemClock } = options;
  const { makeId = randomId, acrossTenants = false } = options;
  const statements = statementsOf(schema);
  checkTenant(tenant);
  const owned = options.pool === undefined;
  const pool = options.pool ?? openPool(options);
  if (!owned) refusePlainPool(pool, options.allowPlain);
  const storeClock = new StoreClock(clock);
  const ownTenant = owned ? tenant : undefined;
  const shared: SharedPool = { pool, ownTenant, clock, storeClock, noteRole: roleNote() };
  const forTenant = (name: string): PostgresStore => stores.of(checkTenant(name));
  const common = { shared, statements, schema, makeId, sharedBeats: acrossTenants, forTenant };
  const stores: TenantStores<PostgresStore> = new TenantStores((name) =>
    storeOf({ ...common, tenant: name, onClose: async () => stores.forget(name) }),
  );
  let ended: Promise<void> | undefined;
  return storeOf({
    ...common,
    tenant,
    acrossTenants,
    onClose: async () => {
      stores.close();
      ended ??= owned ? pool.end() : Promise.resolve();
      return ended;
    },
  });
}

/** Warns once of a role for which the tenants' policies mean nothing: a query that forgets its tenant would read all. */
function roleNote(): (isBound: boolean) => void {
  let isNoted = false;
  return (isBound) => {
    if (isBound || isNoted) return;
    isNoted = true;
    const fix =
      "migrate as the owner with migrate({ role }), and give the store the address of that role";
    warn("MILLRACE_UNPROTECTED_ROWS", unprotected, fix);
  };
}

const unprotected =
  "the role of the PostgreSQL store is superuser or has BYPASSRLS, so row-level security does not separate tenants";

/** What a store for one tenant is made of. */
interface StoreParts {
  readonly shared: SharedPool;
  readonly statements: Statements;
  readonly schema: string;
  readonly tenant: string;
  readonly makeId: MakeId;
  readonly sharedBeats: boolean;
  readonly acrossTenants?: boolean;
  readonly forTenant: (tenant: string) => PostgresStore;
  readonly onClose: () => Promise<void>;
}

function storeOf(parts: StoreParts): PostgresStore {
  const { shared, statements, schema, tenant, makeId, sharedBeats, acrossTenants = false } = parts;
  const connection = new Connection(shared, tenant);
  const makeUid = (): string => makeId("session");
  const context = { connection, statements, tenant, makeUid, acrossTenants };
  const { now } = shared.storeClock;
  const writer = new SessionWriter({ ...context, now, makeToken: tokenMaker() });
  const close = async (): Promise<void> => {
    connection.close();
    await parts.onClose();
  };
  return {
    ...readingCalls(context),
    ...checkpointCalls(context),
    shared: true,
    drivers: driverIndex(context, { sharedBeats, allDue: acrossTenants }),
    now,
    create: (request) => createSession({ ...context, now }, request),
    ...recordCalls(context),
    ...tombstoneCalls(context, (uid) => writer.forget(uid)),
    claim: async (uid, request) => writer.write(uid, claimCall(request)),
    accept: (uid, key, body) => writer.write(uid, acceptCall(key, body)),
    open: async (uid, request) => {
      checkFloor(request);
      return writer.write(uid, openCall(uid, request));
    },
    commit: (uid, request) => writer.write(uid, commitCall(request)),
    append: async (uid, request) => {
      if (request.opens !== undefined) checkFloor(request.opens);
      return writer.write(uid, appendCall(request));
    },
    fork: (uid, request) => forkSession({ ...context, now }, uid, request),
    migrate: async (roles = {}) => migrate(shared.pool, { ...roles, schema }),
    forTenant: parts.forTenant,
    ownTenant: acrossTenants ? undefined : tenant,
    verify: async (name, wanted) => {
      const id = sessionId(name);
      return connection.retrying(() => verifySession(context, id, wanted));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Tokens identify a call among those of all processes. */
function tokenMaker(): () => string {
  const store = randomBytes(12).toString("base64url");
  let count = 0;
  return () => {
    count += 1;
    return `${store}.${count.toString(36)}`;
  };
}

function checkFloor({ lane, epoch }: Floor): void {
  if (Number.isSafeInteger(lane) && lane >= 0 && Number.isSafeInteger(epoch) && epoch >= 0) return;
  throw new MillraceError("invalid_event", `lane ${lane} and epoch ${epoch} are not whole numbers`);
}

/** The calls for checkpoints. A reset deletes the one whose facts it undoes, in its own transaction. */
function checkpointCalls(
  context: ReadContext,
): Required<Pick<SessionStore, "checkpoint" | "keepCheckpoint">> {
  const { tenant } = context;
  const ask = askerOf(context);
  return {
    checkpoint: async (uid) => {
      const [rows, [kept] = []] = await ask(["row", uid, tenant], ["checkpoint", uid, tenant]);
      onlyRow(uid, rows);
      return kept && { head: Number(kept["head"]), text: String(kept["text"]) };
    },
    keepCheckpoint: async (uid, { head, text }) => {
      // A text column holds neither; JSON escapes both. A checkpoint that is not kept costs time alone.
      if (text.includes("\0") || !text.isWellFormed()) return;
      const [rows] = await ask(["row", uid, tenant], ["keepCheckpoint", uid, tenant, head, text]);
      onlyRow(uid, rows);
    },
  };
}

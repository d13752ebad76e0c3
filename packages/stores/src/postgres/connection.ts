import { MillraceError } from "@millrace/core";
import { withoutLogin } from "@millrace/core/checks";
import type { Clock } from "@millrace/core/ports";
import { escapeLiteral } from "pg";
import type { Pool, PoolClient, QueryResult } from "pg";
import type { StoreClock } from "./store-clock.ts";

/** SQL that is prepared once for each connection, under its name. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

/** A statement and its parameters. */
export interface Bound {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

/** The rows that one statement gave. */
export type Rows = readonly Readonly<Record<string, unknown>>[];

/** A transaction under way. */
export interface Transaction {
  /** Sends statements together. */
  readonly send: (...statements: readonly Bound[]) => Promise<readonly Rows[]>;
  /** Sends the last statements together with the commit. When it resolves, the transaction is stored. */
  readonly commit: (...statements: readonly Bound[]) => Promise<readonly Rows[]>;
}

/** A pool of connections that the stores of several tenants may share. */
export interface SharedPool {
  readonly pool: Pool;
  /** The tenant of a pool that the store made for itself: set once for each connection. */
  readonly ownTenant?: string | undefined;
  readonly clock: Clock;
  readonly storeClock: StoreClock;
  /** Called with each answer whether row-level security binds the role. Left out: it is not reported. */
  readonly noteRole?: (isBound: boolean) => void;
}

/** How a transaction begins. Explicit, since a database may have another default. */
const modes = {
  write: "isolation level read committed read write",
  snapshot: "isolation level repeatable read read only",
} as const;
type Mode = keyof typeof modes;

/** Asks for the server's time and what the role may do. It goes out before the statements of a call, so that it waits for none. */
const asksTime: Bound = {
  statement: {
    name: "millrace_time",
    text: `select extract(epoch from clock_timestamp()) as seconds, (select not (rolsuper or rolbypassrls)
      from pg_catalog.pg_roles where rolname = current_user) as bound`,
  },
  values: [],
};
const commits: Bound = { statement: { text: "commit" }, values: [] };

/** Transactions on a connection that has its settings. */
const plainBeginnings: Readonly<Record<Mode, Bound>> = {
  write: { statement: { text: `begin ${modes.write}` }, values: [] },
  snapshot: { statement: { text: `begin ${modes.snapshot}` }, values: [] },
};

/**
 * Names in statements are those of PostgreSQL itself or have their schema. Without this, a function or an
 * operator that another role has put into `public` could be chosen instead.
 */
const searchesNothing = (local: boolean): string =>
  `pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', ${local})`;

/** Turns `synchronous_commit` on where the database has it off: what was confirmed is on the disk. */
const waitsForDisk = (local: boolean): string =>
  `pg_catalog.set_config('synchronous_commit',
    case pg_catalog.current_setting('synchronous_commit') when 'off' then 'on'
    else pg_catalog.current_setting('synchronous_commit') end, ${local})`;

/**
 * Begins a transaction and sets the tenant that row-level security checks: for this transaction only,
 * since the connection may be shared. One text without parameters saves every call a statement.
 */
function beginning(mode: Mode, tenant: string): Bound {
  const text = `begin ${modes[mode]};
    select pg_catalog.set_config('millrace.tenant', ${escapeLiteral(tenant)}, true),
    ${searchesNothing(true)}, ${waitsForDisk(true)}`;
  return { statement: { text }, values: [] };
}

/**
 * Sets the tenant of a connection, and what else a statement needs that is its own transaction. It does
 * nothing and gives no row behind a pooler, which would hand the settings to other clients: there the
 * process id from the handshake is not that of the server's process, since a pooler has to make ids of
 * its own for cancelling.
 */
function settings(tenant: string, processId: number): string {
  return `select pg_catalog.set_config('millrace.tenant', ${escapeLiteral(tenant)}, false),
    ${searchesNothing(false)}, ${waitsForDisk(false)},
    pg_catalog.set_config('default_transaction_isolation', 'read committed', false),
    pg_catalog.set_config('default_transaction_read_only', 'off', false)
    where pg_catalog.pg_backend_pid() = ${processId}`;
}

/**
 * The limit by which a stopped server or a lost route is noticed. A pool of the caller has its own
 * setting of this name. Migrations have no limit.
 */
const ownTimeout = { query_timeout: 30_000 };

const maxTries = 6;
const firstDelay = 50;

/** The access to a pool, for one tenant. */
export class Connection {
  readonly #shared: SharedPool;
  readonly #tenant: string;
  /** Connections of the store's own pool: true for those on which the tenant is set. */
  readonly #settled = new WeakMap<PoolClient, boolean>();
  #named = true;
  #closed = false;

  constructor(shared: SharedPool, tenant: string) {
    this.#shared = shared;
    this.#tenant = tenant;
  }

  /**
   * Statements that need not be in one transaction, in one round trip. Where the connection is this
   * tenant's own, each is a transaction by itself.
   */
  async once(...statements: readonly Bound[]): Promise<readonly Rows[]> {
    return this.transaction(({ commit }) => commit(...statements));
  }

  /**
   * Runs `work` in a transaction, which is undone if it throws or does not commit. Work that begins
   * with its commit is in no transaction but those of its statements, as by `once`.
   */
  async transaction<T>(
    work: (transaction: Transaction) => Promise<T>,
    mode: Mode = "write",
  ): Promise<T> {
    if (this.#closed) throw new MillraceError("closed", "the store was closed");
    const { pool, ownTenant, storeClock, noteRole } = this.#shared;
    const client = await connect(pool);
    const ignore = (): void => undefined; // the query under way rejects with the same error
    client.on("error", ignore);
    let [begun, open] = [false, false];
    const send = async (statements: readonly Bound[], last: boolean): Promise<readonly Rows[]> => {
      const settled = await this.#settle(client);
      const bare = settled && last && !begun;
      const begin = settled ? plainBeginnings[mode] : beginning(mode, this.#tenant);
      const start = [
        ...(begun || bare ? [] : [begin]),
        ...(storeClock.takeTurn() ? [asksTime] : []),
      ];
      begun = true;
      open = !bare;
      const all = [...start, ...statements, ...(last && !bare ? [commits] : [])];
      const timeout = ownTenant === undefined ? {} : ownTimeout;
      const results = await sendAll(client, all, {
        storeClock,
        noteRole,
        timeout,
        named: this.#named,
      });
      if (last) open = false;
      return results.slice(start.length, start.length + statements.length);
    };
    let broken = false;
    try {
      return await work({
        send: (...statements) => send(statements, false),
        commit: (...statements) => send(statements, true),
      });
    } catch (error) {
      broken = isLost(error);
      if (isUnprepared(error)) this.#named = false;
      throw error;
    } finally {
      if (open && !broken) broken = !(await rollBack(client));
      client.removeListener("error", ignore);
      client.release(broken);
    }
  }

  /** True if this connection has the tenant for all its life. Asked once for each. */
  async #settle(client: PoolClient): Promise<boolean> {
    if (this.#shared.ownTenant !== this.#tenant) return false;
    const known = this.#settled.get(client);
    if (known !== undefined) return known;
    const { processID } = client as PoolClient & { readonly processID?: unknown }; // not in the types
    const text = settings(this.#tenant, Number(processID ?? 0));
    const settled = (await client.query({ text, ...ownTimeout })).rows.length > 0;
    this.#settled.set(client, settled);
    return settled;
  }

  /**
   * Retries when the connection was lost, a bounded number of times. `again` is true from the second
   * try on: an earlier one may have been stored, with only its answer lost.
   */
  async retrying<T>(work: (again: boolean) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work(tries > 1);
      } catch (error) {
        const again = isLost(error) || isUnprepared(error);
        if (!again || tries >= maxTries) throw error;
        if (isLost(error)) await this.#shared.clock.sleep(firstDelay * 2 ** (tries - 1));
      }
    }
  }

  /** Later calls throw `closed`. May be repeated. */
  close(): void {
    this.#closed = true;
  }
}

/** A connection of the pool. The error of one that can't be made names its address and keeps its code. */
async function connect(pool: Pool): Promise<PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code = "code" in error ? String(error.code) : "";
    // Where several addresses of one name were tried, the error has a code and no message.
    const message = `no connection to PostgreSQL at ${addressOf(pool)}: ${error.message || code}`;
    // Without a stack: the place in this file is of no use to the reader of the message.
    const known = { stack: `Error: ${message}`, ...(code === "" ? {} : { code }) };
    throw Object.assign(new Error(message), known);
  }
}

/** Host, port and database of a pool, without user and password. */
function addressOf({ options }: Pool): string {
  const { connectionString, host = "localhost", port = 5432, database = "" } = options;
  if (connectionString === undefined) return `${host}:${port}/${database}`;
  return withoutLogin(connectionString).replace(/\?.*$/s, "");
}

/** True for an error after which it is not known whether the statements were carried out. */
export function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  // The server stops, starts or broke a deadlock; the network failed; the driver saw an end or a timeout.
  if (/^(08...|57P0[123]|40P01|40001)$/.test(code)) return true;
  if (/^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOENT)/.test(code)) return true;
  return /connection (terminated|ended|error)|client was closed|read timeout|timeout exceeded/i.test(
    error.message,
  );
}

/**
 * True if a prepared statement was not where it was prepared, or was there already: a pooler has given
 * the client another connection of the server. Nothing was carried out.
 */
function isUnprepared(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^(26000|42P05)$/.test(String(error.code));
}

/** True if a unique key was in use. */
export function isTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "23505";
}

/** How statements are sent. */
interface Sending {
  readonly storeClock: StoreClock;
  readonly noteRole: SharedPool["noteRole"];
  readonly timeout: object;
  /** Whether statements are prepared under their names. */
  readonly named: boolean;
}

async function sendAll(
  client: PoolClient,
  statements: readonly Bound[],
  { storeClock, noteRole, timeout, named }: Sending,
): Promise<readonly Rows[]> {
  const query = async (bound: Bound): Promise<QueryResult<Record<string, unknown>>> => {
    const { name, text } = bound.statement;
    const prepared = named && name !== undefined ? { name } : {};
    const askedAt = storeClock.monotonic();
    const result = await client.query<Record<string, unknown>>({
      ...prepared,
      text,
      values: [...bound.values],
      ...timeout,
    });
    if (bound === asksTime) {
      const { seconds, bound: isBound } = result.rows[0] ?? {};
      storeClock.take(Number(seconds) * 1_000, askedAt, storeClock.monotonic());
      noteRole?.(isBound !== false);
    }
    return result;
  };
  if (!client.pipeline) {
    const results: Rows[] = [];
    for (const statement of statements) results.push((await query(statement)).rows);
    return results;
  }
  // All are sent before the first is answered. If one fails, so do those after it.
  const results = await Promise.allSettled(inOneWrite(client, () => statements.map(query)));
  return results.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value.rows;
  });
}

/** Joins what the driver would write one by one into one write: writes head the profile of a call. */
function inOneWrite<T>({ connection }: PoolClient, send: () => T): T {
  connection.stream.cork();
  try {
    return send();
  } finally {
    connection.stream.uncork();
  }
}

async function rollBack(client: PoolClient): Promise<boolean> {
  try {
    await client.query("rollback");
    return true;
  } catch {
    return false; // the connection is broken
  }
}

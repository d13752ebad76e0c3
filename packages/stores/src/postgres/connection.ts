import { MillraceError } from "@millrace/core";
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

/** How a connection is made and used. */
export interface ConnectionOptions {
  readonly pool: Pool;
  /** Ends the pool with the store. */
  readonly owned: boolean;
  readonly tenant: string;
  readonly clock: Clock;
  readonly storeClock: StoreClock;
}

/** How a transaction begins. Explicit, since a database may have another default. */
const modes = {
  write: "isolation level read committed read write",
  snapshot: "isolation level repeatable read read only",
} as const;
type Mode = keyof typeof modes;

/** Asks for the server's time. It goes out before the statements of a call, so that it waits for none. */
const asksTime: Bound = {
  statement: {
    name: "millrace_time",
    text: "select extract(epoch from clock_timestamp()) as seconds",
  },
  values: [],
};
const commits: Bound = { statement: { text: "commit" }, values: [] };

/**
 * Begins a transaction and sets the tenant that row-level security checks: for this transaction only,
 * since the connection may be shared. It also turns `synchronous_commit` on where the database has it
 * off, so that a commit that was confirmed is on the disk. One text without parameters saves every
 * call a statement.
 */
function beginning(mode: Mode, tenant: string): Bound {
  const text = `begin ${modes[mode]};
    select set_config('millrace.tenant', ${escapeLiteral(tenant)}, true),
      set_config('synchronous_commit', case current_setting('synchronous_commit')
        when 'off' then 'on' else current_setting('synchronous_commit') end, true)`;
  return { statement: { text }, values: [] };
}

/**
 * The limit by which a stopped server or a lost route is noticed. A pool of the caller has its own
 * setting of this name. Migrations have no limit.
 */
const ownTimeout = { query_timeout: 30_000 };

const maxTries = 6;
const firstDelay = 50;

/** The store's access to a pool of connections. */
export class Connection {
  readonly #options: ConnectionOptions;
  #closed: Promise<void> | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    if (!options.owned) return;
    const ignore = (): void => undefined;
    // The pool replaces an idle connection that breaks. Without a listener the event would throw.
    options.pool.on("error", ignore);
    // One that breaks in the packet that completes its login has no listener of the pool any more.
    options.pool.on("connect", (client) => void client.on("error", ignore));
  }

  /** One transaction in one round trip. */
  async once(...statements: readonly Bound[]): Promise<readonly Rows[]> {
    return this.transaction(({ commit }) => commit(...statements));
  }

  /** Runs `work` in a transaction, which is undone if it throws or does not commit. */
  async transaction<T>(
    work: (transaction: Transaction) => Promise<T>,
    mode: Mode = "write",
  ): Promise<T> {
    if (this.#closed !== undefined) throw new MillraceError("closed", "the store was closed");
    const client = await this.#options.pool.connect();
    const ignore = (): void => undefined; // the query under way rejects with the same error
    client.on("error", ignore);
    let [begun, open] = [false, false];
    const send = async (statements: readonly Bound[], last: boolean): Promise<readonly Rows[]> => {
      const { tenant, owned, storeClock } = this.#options;
      const timed = storeClock.takeTurn() ? [asksTime] : [];
      const start = [...(begun ? [] : [beginning(mode, tenant)]), ...timed];
      [begun, open] = [true, true];
      const all = [...start, ...statements, ...(last ? [commits] : [])];
      const results = await sendAll(client, all, { storeClock, timeout: owned ? ownTimeout : {} });
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
      throw error;
    } finally {
      if (open && !broken) broken = !(await rollBack(client));
      client.removeListener("error", ignore);
      client.release(broken);
    }
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
        if (!isLost(error) || tries >= maxTries) throw error;
        await this.#options.clock.sleep(firstDelay * 2 ** (tries - 1));
      }
    }
  }

  /** Waits for calls under way. Later ones throw `closed`. May be repeated. */
  async close(): Promise<void> {
    this.#closed ??= this.#options.owned ? this.#options.pool.end() : Promise.resolve();
    return this.#closed;
  }
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

/** True if a unique key was in use. */
export function isTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "23505";
}

async function sendAll(
  client: PoolClient,
  statements: readonly Bound[],
  { storeClock, timeout }: { readonly storeClock: StoreClock; readonly timeout: object },
): Promise<readonly Rows[]> {
  const query = async (bound: Bound): Promise<QueryResult<Record<string, unknown>>> => {
    const { statement, values } = bound;
    const answer = client.query({ ...statement, values: [...values], ...timeout });
    if (bound !== asksTime) return answer;
    const askedAt = storeClock.monotonic();
    const result = await answer;
    const seconds = Number(result.rows[0]?.seconds);
    storeClock.take(seconds * 1_000, askedAt, storeClock.monotonic());
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

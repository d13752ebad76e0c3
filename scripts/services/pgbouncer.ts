/** A PgBouncer before a PostgreSQL server of tests, which pools by transaction. */
import { chownSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { otherUser } from "./postgres.ts";
import { findPgBouncer, missing } from "./programs.ts";
import { type Place, type Server, startServer } from "./server.ts";

/** What the pooler stands before. */
export interface PgBouncerOptions {
  /** The address of a database with the role and its password. Every client gets this role. */
  readonly url: string;
  /** Connections to the server. 2 by default: few, so that clients take turns on them. */
  readonly poolSize?: number | undefined;
}

/**
 * Starts a PgBouncer in transaction mode: a client keeps a connection of the server for one transaction
 * only. Its `url` is that of the same database through it. Rejects if it is not installed.
 */
export async function startPgBouncer({ url, poolSize = 2 }: PgBouncerOptions): Promise<Server> {
  const file = findPgBouncer();
  if (file === undefined) throw missing("PgBouncer");
  const user = await otherUser();
  const server = new URL(url);
  const settings = (place: Place): string =>
    [
      "[databases]",
      `* = host=${server.hostname} port=${server.port} user=${server.username} password=${server.password}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${place.port}`,
      "unix_socket_dir =",
      "auth_type = any",
      "pool_mode = transaction",
      `default_pool_size = ${poolSize}`,
      `pidfile = ${pidFile(place)}`,
      "",
    ].join("\n");
  return startServer({
    name: "pgbouncer",
    prepare: async (place) => {
      await writeFile(settingsFile(place), settings(place), { mode: 0o600 });
      if (user === undefined) return;
      for (const path of [place.folder, settingsFile(place)]) chownSync(path, user.uid, user.gid);
    },
    command: (place) => ({ file, parameters: [settingsFile(place)], user }),
    answers: async (place, pid) => (await readFile(pidFile(place), "utf8")).trim() === `${pid}`,
    url: ({ port }) => Object.assign(new URL(url), { port: `${port}` }).href,
    quit: "SIGKILL", // it leaves nothing outside of its folder
    tidy: (place) => rm(pidFile(place), { force: true }),
  });
}

function settingsFile({ folder }: Place): string {
  return join(folder, "pgbouncer.ini");
}

function pidFile({ folder }: Place): string {
  return join(folder, "pgbouncer.pid");
}

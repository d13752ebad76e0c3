/** A PostgreSQL server for tests. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { cacheFolder, findPostgres, missing } from "./programs.ts";
import { type Place, type Server, type User, startServer } from "./server.ts";

/** Options of a PostgreSQL server. */
export interface PostgresOptions {
  /** Settings as in postgresql.conf. They override the defaults of this file. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** What the cluster has from its start. Left out: nothing. */
  readonly content?: ClusterContent | undefined;
}

/** Databases and tables that take long to create: done once, and then copied with the cluster. */
export interface ClusterContent {
  /** In the name of the stored cluster. Another content has another name. */
  readonly name: string;
  readonly create: (server: PostgresServer) => Promise<void>;
}

/** A running PostgreSQL. Its `url` is the superuser's, with the password, and the database `postgres`. */
export interface PostgresServer extends Server {
  readonly password: string;
  /** The URL of another database of this server. */
  readonly urlOf: (database: string) => string;
  /** Runs SQL by psql as superuser and returns the rows, one a line, fields separated by `|`. */
  readonly query: (sql: string, database?: string) => Promise<string>;
}

const run = promisify(execFile);

/**
 * Starts a PostgreSQL: an empty cluster, durable as in production (fsync), for 200 connections. TCP
 * requires a password, because other users of the machine can reach the port; the socket in its
 * folder requires none, because they can't reach that. Rejects if PostgreSQL is not installed.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const file = findPostgres("postgres");
  const psql = findPostgres("psql");
  if (file === undefined || psql === undefined) throw missing("PostgreSQL");
  const user = await otherUser();
  const template = await findTemplate(file, user, options.content);
  const password = readFileSync(join(template, "password"), "utf8");
  const urlAt = (port: number, database: string): string =>
    `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;
  const server = await startServer({
    name: "postgres",
    prepare: async ({ folder }) => {
      await run("cp", ["-a", join(template, "data"), join(folder, "data")]);
      if (user !== undefined) chownSync(folder, user.uid, user.gid);
    },
    command: (place) => ({
      file,
      parameters: [...parametersOf(place), ...settingsOf(options.settings)],
      environment: { LC_ALL: "C", PGDATA: join(place.folder, "data") },
      user,
    }),
    // The file has the process id and, once connections are accepted, the status "ready".
    answers: async (place, pid) => {
      const lines = (await readFile(pidFile(place), "utf8")).split("\n");
      return lines[0] === `${pid}` && lines[7]?.trim() === "ready";
    },
    url: ({ port }) => urlAt(port, "postgres"),
    quit: "SIGQUIT", // ends at once, and releases its shared memory
    tidy,
  });
  const { folder, port } = server;
  const login = ["-h", folder, "-p", `${port}`, "-U", "postgres"];
  return Object.assign(server, {
    password,
    urlOf: (database: string) => urlAt(port, database),
    query: async (sql: string, database = "postgres") => {
      const command = [...login, "-d", database, "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", sql];
      return (await run(psql, command, { maxBuffer: 64 * 1024 * 1024 })).stdout.trimEnd();
    },
  });
}

function parametersOf({ folder, port }: Place): readonly string[] {
  return settingsOf({
    listen_addresses: "127.0.0.1",
    port: `${port}`,
    unix_socket_directories: folder,
    max_connections: "200",
    fsync: "on",
    // In files of the data folder, so that a killed server leaves nothing in /dev/shm.
    dynamic_shared_memory_type: "mmap",
    // After a kill it syncs every file first: syncfs takes a tenth of the time.
    ...(process.platform === "linux" && { recovery_init_sync_method: "syncfs" }),
  });
}

function settingsOf(settings: Readonly<Record<string, string>> = {}): readonly string[] {
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

function pidFile({ folder }: Pick<Place, "folder">): string {
  return join(folder, "data", "postmaster.pid");
}

/**
 * After a kill: releases the one segment of shared memory that PostgreSQL holds by number, of which
 * a machine has few, and removes the file with the process id, which another process may reuse.
 */
async function tidy(place: Place): Promise<void> {
  const [, , , , , , shared = ""] = await readFile(pidFile(place), "utf8").then(
    (text) => text.split("\n"),
    () => [],
  );
  const id = shared.trim().split(/\s+/)[1];
  // It may be gone already, or never have existed.
  if (id !== undefined) await run("ipcrm", ["-m", id]).catch(() => undefined);
  await rm(pidFile(place), { force: true });
}

/** PostgreSQL refuses to run as root: then it runs as the user that Debian's package created. */
export async function otherUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = await Promise.all(
    ["-u", "-g"].map(async (flag) => Number((await run("id", [flag, "postgres"])).stdout)),
  );
  if (uid === undefined || gid === undefined) throw missing("the user postgres");
  return { uid, gid };
}

/**
 * A folder with a cluster (`data`) and its password, created once per version and content, and then
 * copied. `initdb` takes seconds of CPU, a copy a fraction of one.
 */
async function findTemplate(
  postgres: string,
  user: User | undefined,
  content: ClusterContent | undefined,
): Promise<string> {
  const version = /\d[\w.]*/.exec((await run(postgres, ["--version"])).stdout)?.[0] ?? "unknown";
  const empty = join(cacheFolder, `postgres-${version}-as-${user?.uid ?? "self"}`);
  const template = content === undefined ? empty : `${empty}-${content.name}`;
  if (existsSync(template)) return template;
  if (content === undefined) await initialise(user, template);
  else await fill(content, template);
  return template;
}

/** Creates a cluster with its content, and stops it in order: a copy starts without a recovery. */
async function fill({ create }: ClusterContent, template: string): Promise<void> {
  await using server = await startPostgres();
  await create(server);
  const { folder, password } = server;
  process.kill(server.pid, "SIGINT");
  while (existsSync(pidFile(server))) await sleep(20);
  await writeFile(join(folder, "password"), password, { mode: 0o600 });
  await keepTemplate(folder, template);
}

async function initialise(user: User | undefined, template: string): Promise<void> {
  const initdb = findPostgres("initdb");
  if (initdb === undefined) throw missing("PostgreSQL");

  const work = mkdtempSync(join(tmpdir(), "millrace-initdb-"));
  try {
    if (user !== undefined) chownSync(work, user.uid, user.gid);
    const passwordFile = join(work, "password");
    await writeFile(passwordFile, randomBytes(16).toString("hex"), { mode: 0o600 });
    if (user !== undefined) chownSync(passwordFile, user.uid, user.gid);
    const auth = ["--auth-local=trust", "--auth-host=scram-sha-256", `--pwfile=${passwordFile}`];
    const language = ["--encoding=UTF8", "--locale=C"];
    const data = ["--username=postgres", "--pgdata", join(work, "data")];
    await run(initdb, [...data, ...auth, ...language], { ...user, cwd: work });
    await keepTemplate(work, template);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Moves the folder into its place atomically: other processes may create or read it at the same
 * time.
 */
async function keepTemplate(work: string, template: string): Promise<void> {
  mkdirSync(cacheFolder, { recursive: true, mode: 0o700 });
  const copy = mkdtempSync(join(cacheFolder, "new-"));
  try {
    await run("cp", ["-a", `${work}/.`, copy]);
    renameSync(copy, template);
  } catch (error) {
    rmSync(copy, { recursive: true, force: true });
    if (!existsSync(template)) throw error; // another process was first, and its template is equal
  }
}

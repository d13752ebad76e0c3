/** The paths of the servers' programs, and of the cache for what is slow to build. */
import { accessSync, constants, globSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

/** The version of the Temporal server that is built and tested with. */
export const temporalVersion = "1.31.2";

/** Kept between runs, per user: an empty PostgreSQL cluster to copy, and Temporal's programs. */
export const cacheFolder: string = join(
  process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"),
  "millrace-services",
);

/** The folder into which `npm run services -- install temporal` builds. */
export const temporalFolder: string = join(cacheFolder, `temporal-${temporalVersion}`);

/** The first of these programs in one of the folders, or else on the path. */
function findProgram(
  names: readonly string[],
  folders: readonly string[] = pathFolders(),
): string | undefined {
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => isExecutable(path));
}

function pathFolders(): readonly string[] {
  return (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
}

/** `redis-server` of version 7 or later, or Valkey's. */
export function findRedis(): string | undefined {
  return findProgram(["redis-server", "valkey-server"]);
}

/** The program of the newest PostgreSQL here. Debian keeps the server's programs off the path. */
export function findPostgres(name: "initdb" | "postgres" | "psql"): string | undefined {
  const folders = globSync("/usr/lib/postgresql/*/bin").toSorted((one, other) =>
    other.localeCompare(one, "en", { numeric: true }),
  );
  return findProgram([name], [...folders, ...pathFolders()]);
}

/** The library by which a process gets a wall clock of its own. */
export function findFakeTime(): string | undefined {
  return globSync("/usr/lib/*/faketime/libfaketimeMT.so.1")[0];
}

/** `pgbouncer`, which Debian keeps where only root looks. */
export function findPgBouncer(): string | undefined {
  return findProgram(["pgbouncer"], [...pathFolders(), "/usr/sbin"]);
}

/** Temporal's server and its schema tool: the built ones, or those on the path. */
export function findTemporal(): { readonly server: string; readonly sqlTool: string } | undefined {
  const server = findProgram(["server"], [temporalFolder]) ?? findProgram(["temporal-server"]);
  const sqlTool = findProgram(["sql"], [temporalFolder]) ?? findProgram(["temporal-sql-tool"]);
  return server === undefined || sqlTool === undefined ? undefined : { server, sqlTool };
}

/** The error for a missing program, with the command that installs it. */
export function missing(what: string, install: string = "install"): Error {
  return new Error(`${what} is not installed: run \`npm run services -- ${install}\``);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // absent, or not executable
  }
}

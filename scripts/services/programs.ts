/** The paths of the programs that tests start, and of the cache for what is slow to build. */
import { accessSync, constants, globSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

/**
 * The version of the Temporal server that is built and tested with. In a file, which the script that
 * builds it reads too.
 */
export const temporalVersion: string = readFileSync(
  join(import.meta.dirname, "temporal-version"),
  "utf8",
).trim();

/**
 * Kept between runs, per user: an empty PostgreSQL cluster to copy, and Temporal's programs. An empty
 * variable counts as none, as `build-temporal.sh` has it.
 */
export const cacheFolder: string = join(
  process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"),
  "millrace-services",
);

/** The folder into which `build-temporal.sh` builds. */
const temporalFolder: string = join(cacheFolder, `temporal-${temporalVersion}`);

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

/** `ip`, which takes down the link of a network of one's own. */
export function findIp(): string | undefined {
  return findProgram(["ip"], [...pathFolders(), "/usr/sbin", "/sbin"]);
}

/** A Chromium that is run without a window. */
export function findChromium(): string | undefined {
  return findProgram(["chromium", "chromium-browser", "google-chrome"]);
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

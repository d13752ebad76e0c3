/**
 * Installs what the services need. Quick if it is installed. The script neither starts nor enables
 * the packages' own servers, and does not change servers that were installed before: tests kill
 * only their own.
 *
 *     npm run services -- install             Redis, PostgreSQL, PgBouncer, libfaketime and Chromium, by Debian packages
 *     npm run services -- install temporal    the Temporal server, built with Go; slow
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  findChromium,
  findIp,
  findFakeTime,
  findPgBouncer,
  findPostgres,
  findRedis,
  findTemporal,
} from "./programs.ts";

/**
 * Installs Redis, PostgreSQL, PgBouncer, libfaketime, which sets clocks apart, and Chromium for the tests of
 * pages, unless they are installed.
 */
export function installPackages(): void {
  const packages = missingPackages();
  if (packages.length === 0)
    return console.log("Redis, PostgreSQL, PgBouncer, libfaketime and Chromium are installed");
  const prefix = rootPrefix();
  if (!existsSync("/usr/bin/apt-get") || prefix === undefined) throw byHand(packages);
  run([...prefix, "sh", "-ec", aptScript, "install-services", ...packages]);
  const left = missingPackages();
  if (left.length > 0) throw byHand(left);
}

/**
 * Builds the Temporal server unless it is built. Takes minutes the first time, and 2.6 GB of Go's
 * caches.
 */
export function installTemporal(): void {
  if (findTemporal() !== undefined) return console.log("Temporal is installed");
  run(["sh", join(import.meta.dirname, "build-temporal.sh")]);
}

function missingPackages(): readonly string[] {
  const postgres = findPostgres("postgres") !== undefined && findPostgres("psql") !== undefined;
  return [
    ...(findRedis() === undefined ? ["redis-server"] : []),
    ...(postgres ? [] : ["postgresql"]),
    ...(findFakeTime() === undefined ? ["libfaketime"] : []),
    ...(findPgBouncer() === undefined ? ["pgbouncer"] : []),
    ...(findChromium() === undefined ? ["chromium"] : []),
    ...(findIp() === undefined ? ["iproute2"] : []),
  ];
}

/**
 * A Debian package starts its server when it is installed, unless /usr/sbin/policy-rc.d forbids it,
 * and enables it at boot. Both are prevented here. Only units of newly installed packages are
 * disabled.
 */
const aptScript = `
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 1' HUP INT TERM
  printf '#!/bin/sh\\nexit 101\\n' >"$policy"
  chmod 755 "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update || echo "apt-get update failed; trying with the lists that are here"
apt-get -o DPkg::Lock::Timeout=300 install -y "$@"
if [ -d /run/systemd/system ]; then
  for unit in redis-server postgresql pgbouncer; do
    case " $* " in *" $unit "*) systemctl disable "$unit" ;; esac
  done
fi
`;

/** The prefix for a command that only root may run, or undefined if that is not possible. */
function rootPrefix(): readonly string[] | undefined {
  if (process.getuid?.() === 0) return [];
  // Asks for a password only at a terminal.
  const parameters = process.stdin.isTTY ? ["-v"] : ["-n", "true"];
  return spawnSync("sudo", parameters, { stdio: "inherit" }).status === 0 ? ["sudo"] : undefined;
}

function byHand(packages: readonly string[]): Error {
  return new Error(
    `can't install ${packages.join(" and ")} here (it takes apt-get, and root or sudo): install Redis 7 or Valkey 8, ` +
      "PostgreSQL 15 or later, PgBouncer, Chromium and iproute2, so that redis-server, postgres, initdb, psql, pgbouncer, chromium and ip are on the path, and libfaketime",
  );
}

function run([file = "", ...parameters]: readonly string[]): void {
  const { status, error } = spawnSync(file, parameters, { stdio: "inherit" });
  if (status !== 0) throw new Error(`${file} ${parameters[0]} failed`, { cause: error });
}

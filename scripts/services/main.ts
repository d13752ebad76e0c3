/**
 * Starts servers on free ports and prints their addresses, as lines for an environment. They run
 * until Ctrl-C, and leave nothing behind.
 *
 *     npm run services                        all that are installed
 *     npm run services -- redis postgres      these
 *     npm run services -- redis postgres run npm start -w examples/survives
 *                                             these, for as long as a command runs, in its environment
 *     npm run services -- install             installs Redis and PostgreSQL
 *     npm run services -- install temporal    builds the Temporal server
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { installPackages, installTemporal } from "./install.ts";
import { startPostgres } from "./postgres.ts";
import { findTemporal } from "./programs.ts";
import { startRedis } from "./redis.ts";
import type { Server } from "./server.ts";
import { startTemporal } from "./temporal.ts";

/** The services by name, with the variable that clients read. */
const services: Readonly<Record<string, readonly [string, () => Promise<Server>]>> = {
  redis: ["REDIS_URL", () => startRedis()],
  postgres: ["DATABASE_URL", () => startPostgres()],
  temporal: ["TEMPORAL_ADDRESS", () => startTemporal()],
};

const parameters = process.argv.slice(2);
const [first, ...others] = parameters;
try {
  if (first === "install") install(others);
  else {
    const end = parameters.includes("run") ? parameters.indexOf("run") : parameters.length;
    const names = end === 0 || parameters.length === 0 ? installed() : parameters.slice(0, end);
    await runServices(names, parameters.slice(end + 1));
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error); // the message describes the fix; its stack does not help
  process.exitCode = 1;
}

function install(names: readonly string[]): void {
  if (names.length === 0) return installPackages();
  if (names.join() !== "temporal") throw new Error("install what? `install` or `install temporal`");
  installTemporal();
}

function installed(): readonly string[] {
  if (findTemporal() !== undefined) return Object.keys(services);
  console.error("# no Temporal here: `npm run services -- install temporal` builds it, in minutes");
  return ["redis", "postgres"];
}

async function runServices(names: readonly string[], command: readonly string[]): Promise<void> {
  const stopRequested = new Promise<void>((settle) => {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => settle());
  });
  const environment: Record<string, string> = {};
  await using running = new AsyncDisposableStack();
  for (const name of names) {
    const [variable = "", start] = services[name] ?? [];
    if (start === undefined) {
      throw new Error(`no service ${name}: there are ${Object.keys(services).join(", ")}`);
    }
    const server = await Promise.race([start(), stopRequested]);
    if (server === undefined) return process.exit(); // the watchdog ends servers that were starting
    environment[variable] = running.use(server).url;
    if (command.length === 0) console.log(`${variable}=${server.url}`);
  }
  if (command.length > 0) return await runCommand(command, environment);
  console.error("# running until Ctrl-C");
  const alive = setInterval(() => undefined, 60_000); // signals alone do not keep a process running
  await stopRequested;
  clearInterval(alive);
}

async function runCommand(
  [program = "", ...rest]: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const env = { ...process.env, ...environment };
  const [code] = (await once(spawn(program, rest, { stdio: "inherit", env }), "exit")) as [number];
  process.exitCode = code ?? 1; // undefined after a signal
}

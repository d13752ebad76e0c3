/** A server process for tests: started in a folder of its own, killed, stopped, started again. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findProcess, findTree, killTree, signal } from "./process-table.ts";
import { watch } from "./watch.ts";

/** A running server. It ends with the process that started it, however that process ends. */
export interface Server extends AsyncDisposable {
  /** The address for clients. The same after a restart. */
  readonly url: string;
  readonly port: number;
  /** The id of the server's first process. Another one after a restart. */
  readonly pid: number;
  /** Everything the server writes, its log too (`log.txt`). Gone after `close`. */
  readonly folder: string;
  /** SIGKILL to all its processes, as if the machine had lost them. Settles when they are gone. */
  readonly kill: () => Promise<void>;
  /** SIGSTOP to all its processes: connections stay open without an answer. */
  readonly stop: () => Promise<void>;
  /** SIGCONT: the server continues. */
  readonly cont: () => Promise<void>;
  /**
   * Starts it again on the same port and data, after `kill` if it runs. Settles when it answers.
   */
  readonly restart: () => Promise<void>;
  /** Ends it and removes its folder. May be repeated. */
  readonly close: () => Promise<void>;
}

/** How a server is started, and how to check that it answers. */
export interface Recipe {
  readonly name: string;
  readonly command: (place: Place) => Command;
  /**
   * True if this process answers, and not another one on the port. A rejection counts as false.
   */
  readonly answers: (place: Place, pid: number) => Promise<boolean>;
  readonly url: (place: Place) => string;
  /** How many ports it needs beside its own. None if left out. */
  readonly furtherPorts?: number | undefined;
  /** The signal that ends it at once without leaving anything behind. */
  readonly quit: NodeJS.Signals;
  /** Fills the folder before the first start. */
  readonly prepare?: ((place: Place) => Promise<void>) | undefined;
  /**
   * Removes what a killed server leaves outside of its folder, or what would prevent a restart.
   */
  readonly tidy?: ((place: Place) => Promise<void>) | undefined;
  /** Ends the servers that this one depends on. */
  readonly release?: (() => Promise<void>) | undefined;
}

/** The place of a server. */
export interface Place {
  readonly folder: string;
  readonly port: number;
  /** Those of its other services, which stay the same over a restart. */
  readonly furtherPorts: readonly number[];
}

/** How a server is started. */
export interface Command {
  readonly file: string;
  readonly parameters: readonly string[];
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** The user to run as, if not the current one. Requires root. */
  readonly user?: User | undefined;
}

/** A user of this machine. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The time limit of a start. Long, for a loaded machine; a server that hangs is still detected.
 */
const timeoutMs = 120_000;

/** Starts a server on a free port. Rejects with the end of its log if it does not come up. */
export async function startServer(recipe: Recipe): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), `millrace-${recipe.name}-`));
  watch({ folder });
  for (let left = 4; ; left--) {
    const [port = 0, ...furtherPorts] = await freePorts(1 + (recipe.furtherPorts ?? 0));
    const server = new OwnServer(recipe, { folder, port, furtherPorts });
    try {
      if (left === 4) await recipe.prepare?.(server.place);
      await server.start();
      return publicSide(server);
    } catch (error) {
      // Another process may have taken a port meanwhile.
      if (left > 0 && readLog(folder).includes("in use")) continue;
      await server.close();
      throw error;
    }
  }
}

/**
 * A free port of the loopback address, below those that the system gives to outgoing connections:
 * such a connection could take the port of a killed server before its restart, and a client that
 * retries would finally connect to itself.
 */
export async function freePort(): Promise<number> {
  for (let left = 100; left > 0; left--) {
    const port = randomInt(15_000, 32_000);
    if (await isFree(port)) return port;
  }
  throw new Error("found no free port between 15000 and 32000");
}

async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((settle) => {
    const probe = createServer();
    probe.once("error", () => settle(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => settle(true)));
  });
}

function publicSide(server: OwnServer): Server {
  const { url, place } = server;
  return {
    url,
    ...place,
    get pid() {
      return server.pid;
    },
    kill: () => server.kill(),
    stop: () => server.stop(),
    cont: () => server.cont(),
    restart: () => server.restart(),
    close: () => server.close(),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

class OwnServer {
  readonly place: Place;
  readonly url: string;
  readonly #recipe: Recipe;
  #child: ChildProcess | undefined;
  #closing: Promise<void> | undefined;

  constructor(recipe: Recipe, place: Place) {
    this.#recipe = recipe;
    this.place = place;
    this.url = recipe.url(place);
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  async start(): Promise<void> {
    const { name, answers } = this.#recipe;
    const child = this.#launch();
    const deadline = performance.now() + timeoutMs;
    let pauseMs = 2;
    while (isRunning(child) && performance.now() < deadline) {
      const pid = child.pid;
      if (pid !== undefined && (await answers(this.place, pid).catch(() => false))) return;
      await sleep(pauseMs);
      pauseMs = Math.min(pauseMs * 2, 50);
    }
    const how = isRunning(child) ? `does not answer after ${timeoutMs / 1000} s` : "ended";
    if (isRunning(child)) await this.kill();
    throw new Error(`${name} ${how}; its log ends with:\n${readLog(this.place.folder)}`);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined || !isRunning(child)) return;
    const killed = killTree(child.pid);
    await ended(child);
    await until(() => killed.every((entry) => findProcess(entry.pid)?.started !== entry.started));
    await this.#recipe.tidy?.(this.place);
  }

  async stop(): Promise<void> {
    const child = this.#running();
    signal(child, "SIGSTOP"); // before its children are listed
    for (const { pid } of findTree(child)) signal(pid, "SIGSTOP");
    await until(() => findTree(child).every(({ state }) => state === "T"));
  }

  async cont(): Promise<void> {
    for (const { pid } of findTree(this.#running()).toReversed()) signal(pid, "SIGCONT");
  }

  async restart(): Promise<void> {
    if (this.#closing !== undefined) throw new Error(`${this.#recipe.name} is closed`);
    await this.kill();
    await this.start();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const child = this.#child;
    if (child !== undefined && isRunning(child)) {
      await this.cont();
      child.kill(this.#recipe.quit);
      await Promise.race([ended(child), sleep(10_000, undefined, { ref: false })]);
      await this.kill();
    }
    await rm(this.place.folder, { recursive: true, force: true, maxRetries: 10 });
    watch({ folder: this.place.folder, done: true });
    await this.#recipe.release?.();
  }

  #launch(): ChildProcess {
    const { file, parameters, environment, user } = this.#recipe.command(this.place);
    const log = openSync(join(this.place.folder, "log.txt"), "a");
    const child = spawn(file, parameters, {
      cwd: this.place.folder,
      detached: true, // Ctrl-C at a terminal is for this process, which then ends the server
      stdio: ["ignore", log, log],
      env: { ...process.env, ...environment },
      ...user,
    });
    closeSync(log);
    child.unref();
    child.on("error", () => undefined); // a program that can't be started has no id, and has ended
    this.#child = child;
    this.#tellWatchdog(child);
    child.once("exit", () => {
      if (this.#closing === undefined && this.#child === child)
        watch({ folder: this.place.folder });
    });
    return child;
  }

  #tellWatchdog({ pid }: ChildProcess): void {
    const started = pid === undefined ? undefined : findProcess(pid)?.started;
    if (pid === undefined || started === undefined) return;
    watch({ folder: this.place.folder, server: { pid, started, quit: this.#recipe.quit } });
  }

  #running(): number {
    if (this.#child?.pid === undefined || !isRunning(this.#child)) {
      throw new Error(`${this.#recipe.name} does not run`);
    }
    return this.#child.pid;
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

async function ended(child: ChildProcess): Promise<void> {
  child.ref(); // or this process may end before
  if (isRunning(child)) await once(child, "exit");
}

async function until(isSo: () => boolean): Promise<void> {
  for (let waited = 0; !isSo(); waited += 5) {
    if (waited > timeoutMs) throw new Error("processes did not reach the expected state in time");
    await sleep(5);
  }
}

/** The last lines of a server's log. */
function readLog(folder: string): string {
  try {
    const text = readFileSync(join(folder, "log.txt"), "utf8").slice(-20_000);
    // A line may go on with the stack of its error, longer than all that says something.
    return text.replaceAll(/^(.{1000}).+$/gm, "$1…").slice(-4_000);
  } catch {
    return "(no log)";
  }
}

import {
  appendFileSync,
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** A place in the doings of a process at which it may be killed. */
export type Station =
  // Of a web node.
  | "accept"
  | "accepted"
  | "wake"
  | "frame"
  // Of a worker: a reply.
  | "reply begins"
  | "request"
  | "answer"
  | "delta"
  | "reply ends"
  | "statement"
  | "commit sent"
  | "reply stored"
  | "step done"
  // Of a worker: a call.
  | "call begins"
  | "call started"
  | "child"
  | "effect"
  | "result comes"
  | "result stored"
  | "result announced"
  // Of a worker: a compaction.
  | "summary";

/** Where a process is killed for a session: when it passes the station for the so-many-th time. */
export interface Armed {
  readonly station: Station;
  readonly pass: number;
}

/**
 * The stations of the processes of one deployment, in a folder that its test and its processes share. A
 * session is armed once, and the process that reaches its station kills itself there, by SIGKILL.
 */
export class Stations {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  arm(uid: string, armed: Armed): void {
    writeFileSync(this.#file(uid), JSON.stringify(armed));
  }

  /** No process is killed for the session any more. */
  disarm(uid: string): void {
    rmSync(this.#file(uid), { force: true });
  }

  /** Whether a process was killed for the session. */
  isReached(uid: string): boolean {
    return existsSync(this.#file(uid, ".reached"));
  }

  /** The sessions that are armed. */
  armed(): readonly string[] {
    return readdirSync(this.#folder).filter((name) => !name.includes("."));
  }

  /** Passes a station of a session. Does not return where the process is to be killed. */
  pass(uid: string, station: Station): void {
    if (this.isDue(uid, station)) this.kill(uid);
  }

  /** Whether this process is to be killed at this station. Counts as a pass. */
  isDue(uid: string, station: Station): boolean {
    const armed = this.#read(uid);
    if (armed?.station !== station) return false;
    // Counted in a file: the passes before may have been another worker's.
    const passes = this.#file(uid, ".passes");
    appendFileSync(passes, "x");
    return readFileSync(passes, "utf8").length === armed.pass;
  }

  kill(uid: string): void {
    renameSync(this.#file(uid), this.#file(uid, ".reached"));
    process.kill(process.pid, "SIGKILL");
  }

  #read(uid: string): Armed | undefined {
    try {
      return JSON.parse(readFileSync(this.#file(uid), "utf8")) as Armed;
    } catch {
      return undefined; // not armed, or not any more
    }
  }

  #file(uid: string, suffix = ""): string {
    return join(this.#folder, `${uid}${suffix}`);
  }
}

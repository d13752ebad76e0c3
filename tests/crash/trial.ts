import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileStore } from "@millrace/stores/file";
import { readLines } from "./kit/tally.ts";
import type { Evidence, SessionEvidence } from "./check/evidence.ts";
import type { Scenario } from "./scenario.ts";

/** No process of any scenario needs this long; one that does hangs. */
const childMs = 30_000;

export interface Ended {
  /** Ended at the given boundary, instead of by itself. */
  readonly killed: boolean;
  /** The boundaries that it passed, if it ended by itself. */
  readonly boundaries: readonly string[];
}

/** One scenario in one folder: all its processes, one after the other, and what they left. */
export class Trial {
  readonly #scenario: Scenario;
  readonly #program: string;
  readonly #folder: string;

  private constructor(scenario: Scenario, program: string, folder: string) {
    this.#scenario = scenario;
    this.#program = program;
    this.#folder = folder;
  }

  static async begin(scenario: Scenario, program: string, folder: string): Promise<Trial> {
    await mkdir(folder, { recursive: true });
    return new Trial(scenario, program, folder);
  }

  /** Runs one process to its end. Throws if it ends in another way than its arguments ask for. */
  async run(killAt: number): Promise<Ended> {
    const { name } = this.#scenario;
    const child = spawn(process.execPath, [this.#program, name, this.#folder, String(killAt)], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { NODE_COMPILE_CACHE: `${this.#program}.cache` },
    });
    let [said, complained] = ["", ""];
    child.stdout.on("data", (text: Buffer) => (said += text.toString()));
    child.stderr.on("data", (text: Buffer) => (complained += text.toString()));
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill("SIGKILL");
    }, childMs);
    const [code, signal] = (await once(child, "close")) as [number | null, string | null];
    clearTimeout(timer);
    const killed = signal === "SIGKILL" && !late;
    if (killed && killAt > 0) return { killed, boundaries: [] };
    if (code === 0) return { killed, boundaries: said.split("\n") };
    const how = late ? "it hangs" : `it ended with ${code ?? signal}`;
    throw new Error(`${name}, told to end at ${killAt}: ${how}\n${said}\n${complained}`);
  }

  /** What stands outside the processes now. */
  async evidence(): Promise<Evidence> {
    const tally = (file: string): readonly string[] => readLines(join(this.#folder, file));
    await using store = fileStore(join(this.#folder, "sessions"), { fsync: "never" });
    const sessions: SessionEvidence[] = [];
    for (const { uid, sessionId } of await store.list({ limit: 1_000 })) {
      sessions.push({ uid, sessionId, facts: await store.read(uid) });
    }
    const accepted = new Set(tally("acks").map(Number));
    return { sessions, effects: tally("effects"), accepted, ends: tally("ends") };
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

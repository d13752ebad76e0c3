import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent, Session, Tool } from "@millrace/agent";
import { sessionId } from "@millrace/core/writing";
import type { SessionId } from "@millrace/core";
import type { Clock, MakeId } from "@millrace/core/ports";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { countingIds } from "@millrace/core/testing";
import { Random } from "../kit/random.ts";
import { heldClock, rest, watched } from "../sessions/kit/clock.ts";
import type { HeldClock } from "../sessions/kit/clock.ts";
import { anyInput } from "../sessions/kit/tools.ts";
import { recordCalls } from "./recorder.ts";
import type { Call, Recorder } from "./recorder.ts";
import { drawReply, pacedModel, paceMs } from "./replies.ts";
import type { PacedReply } from "./replies.ts";

/** A session as its processes wrote it, to be played into any backend. */
export interface Recording {
  readonly seed: number;
  readonly sessionId: SessionId;
  readonly calls: readonly Call[];
}

/** Time and names are the same on every backend, and so are facts and cursors, to the letter. */
export const storeTime = 1_700_000_000_000;

/** The uid of a recorded session. */
export function uidOf(seed: number): string {
  return `uid_${seed}`;
}

export interface RecordOptions {
  readonly seed: number;
  /** What the model replies, in this order, before it goes on by itself. */
  readonly replies: readonly PacedReply[];
  /** How it goes on. Left out: with replies of any parts. */
  readonly draw?: typeof drawReply;
  /**
   * In how many of 1,000 moments another process opens the session and takes over its run at once, since the store
   * shows it no driver. Left out: 8 open it, and leave a run to the driver that is alive.
   */
  readonly takeovers?: number;
}

/** Lives one session through the real agent, and gives what it wrote. */
export async function record(options: RecordOptions): Promise<Recording> {
  return await new Recorded(options).live();
}

const drawnTools = ["look", "pay", "wire", "boom"];
/** A session that goes on for longer than this is stopped. */
const rounds = 260;

class Recorded {
  readonly #seed: number;
  readonly #random: Random;
  readonly #clock: HeldClock = heldClock();
  readonly #makeId = countingIds();
  readonly #ports: Recorder;
  readonly #agent: Agent;
  readonly #id: SessionId;
  readonly #sessions: Session[] = [];
  readonly #replies: PacedReply[];
  readonly #drawReply: typeof drawReply;
  readonly #takeovers: number | undefined;

  constructor({ seed, replies, draw = drawReply, takeovers }: RecordOptions) {
    this.#seed = seed;
    this.#drawReply = draw;
    this.#takeovers = takeovers;
    this.#id = sessionId(`recorded_${seed}`);
    this.#random = new Random(seed);
    this.#replies = [...replies];
    const clock: Clock = { ...this.#clock, now: () => storeTime, monotonic: () => 0 };
    const makeId: MakeId = () => uidOf(seed);
    this.#ports = recordCalls(memorySessionStore({ clock, makeId }), memoryEventLog());
    this.#agent = this.#draw();
  }

  async live(): Promise<Recording> {
    await this.#open();
    const prompts = 1 + this.#random.below(2);
    for (let prompt = 0; prompt < prompts; prompt += 1) {
      const picture = new Blob([new Uint8Array([137, 80, 78, 71])], { type: "image/png" });
      this.#here().send(this.#random.chance(0.1) ? ["see", picture] : "please");
      await this.#untilIdle();
    }
    for (const session of this.#sessions) await this.#close(session);
    const calls = this.#ports.calls.slice();
    return { seed: this.#seed, sessionId: this.#id, calls };
  }

  #draw(): Agent {
    const random = this.#random;
    const vendors = this.#replies.flatMap(({ deltas }) =>
      deltas.flatMap((delta) =>
        delta.op === "begin_part" && delta.kind === "tool_call" ? [delta.tool] : [],
      ),
    );
    const names = new Set([...drawnTools, ...vendors.filter((name) => /^[\w-]{1,64}$/.test(name))]);
    const compacting = { window: 1_000, compactAbove: 0.7, keep: 1 + random.below(2) };
    return defineAgent({
      model: pacedModel(this.#clock, random, () => this.#reply()),
      tools: [...names].map((name) => this.#tool(name)),
      limits: { turns: 4, repeats: 3, seconds: 900 },
      parallel: 1 + random.below(4),
      retry: { attempts: 2, baseMs: 10, capMs: 20 },
      ...(random.chance(0.4) ? { context: compacting } : {}),
    });
  }

  /** Each tool reports progress while it runs. */
  #tool(name: string): Tool {
    const random = this.#random;
    return defineTool({
      name,
      input: anyInput,
      effect: "idempotent",
      approve: () => (random.chance(0.2) ? "ask" : "allow"),
      run: async (_, { append, progress, signal }) => {
        if (random.chance(0.3)) progress({ message: "begun" });
        for (let left = random.below(4); left > 0; left -= 1) {
          append(`${name} ${left} 🔎 `);
          await this.#clock.sleep(paceMs, signal);
        }
        if (name === "boom") throw new Error("it broke");
        return random.pick(["done", { sky: "blue" }, [1, 2]]);
      },
    });
  }

  #reply(): PacedReply {
    const next = this.#replies.shift();
    if (next !== undefined) return next;
    return this.#drawReply(this.#random, drawnTools);
  }

  #here(): Session {
    return this.#sessions.at(-1) as Session;
  }

  async #open(): Promise<void> {
    const { store, log } = this.#ports;
    const { drivers: _, ...blind } = store;
    const opened = this.#takeovers === undefined ? { ...store } : blind;
    const ports = { store: opened, log, clock: this.#clock, makeId: this.#makeId };
    this.#sessions.push(await this.#agent.open({ id: this.#id, ...ports }));
  }

  async #untilIdle(): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      await rest();
      const session = this.#here();
      if (session.status === "idle") return;
      if (round === rounds - 40) session.abort();
      await this.#happen(session);
      await rest();
      this.#clock.pass(paceMs);
    }
    throw new Error(`session ${this.#seed} does not come to rest`);
  }

  /** People and machines do things in between. */
  async #happen(session: Session): Promise<void> {
    const random = this.#random;
    const [asked] = session.approvals;
    if (asked !== undefined && random.chance(0.3)) {
      if (random.chance(0.7)) void session.allow(asked.id);
      else void session.deny(asked.id);
    }
    const draw = random.below(1_000);
    if (draw < 6) session.abort();
    else if (draw < 16) void session.steer("rather this");
    else if (draw < 21) void session.followUp("and then?");
    else if (draw < 21 + (this.#takeovers ?? 8)) await this.#open(); // another process takes it; this one does not know
  }

  /** Closing waits for what is under way, and time stands still: so time is helped. */
  async #close(session: Session): Promise<void> {
    const closing = session.close();
    const closed = watched(closing.then(() => true));
    for (let round = 0; round < 40 && closed() === undefined; round += 1) {
      await rest();
      if (closed() === undefined) this.#clock.pass(6_000);
    }
    await closing;
  }
}

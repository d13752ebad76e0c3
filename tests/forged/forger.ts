import { createHmac, randomBytes } from "node:crypto";
import type { Fact, SessionUid } from "@millrace/core";
import { createClient } from "@redis/client";
import { keysOf } from "../../packages/stores/src/redis/keys.ts";
import { forgedBatches, forgedBodies, mark } from "./forgery.ts";

type Client = Awaited<ReturnType<typeof connect>>;

async function connect(url: string) {
  const client = createClient({ url });
  client.on("error", () => undefined);
  return await client.connect();
}

/** What a forger has done. */
export interface ForgerTally {
  facts: number;
  batches: number;
  nudges: number;
  /** Entries that Redis took into a lane's stream. */
  entries: number;
}

/**
 * A program with a connection to Redis and nothing else. It has the sessions, their facts, the
 * names of all keys and channels and the MAC's algorithm, receives every message, and lacks only
 * the sessions' keys.
 */
export class Forger implements AsyncDisposable {
  /** While this is false it only listens. */
  active = true;
  readonly tally: ForgerTally = { facts: 0, batches: 0, nudges: 0, entries: 0 };
  readonly #prefix: string;
  readonly #client: Client;
  readonly #ear: Client;
  readonly #wrongKey = randomBytes(32);
  /** MACs that it has received, by session. */
  readonly #stolen = new Map<SessionUid, string>();
  readonly #working = new Set<Promise<unknown>>();
  #strikes = 0;
  #texts = 0;

  private constructor(prefix: string, client: Client, ear: Client) {
    this.#prefix = prefix;
    this.#client = client;
    this.#ear = ear;
  }

  static async open(url: string, prefix: string): Promise<Forger> {
    const [client, ear] = await Promise.all([connect(url), connect(url)]);
    return new Forger(prefix, client, ear);
  }

  /** Listens to a session, and answers each of its batches with forged ones. */
  async shadow(uid: SessionUid): Promise<void> {
    const { tail, facts } = keysOf(this.#prefix, uid);
    const steal = (text: string): void => {
      this.#stolen.set(uid, text.slice(0, text.indexOf("{")));
    };
    const stealOne = (text: string): void => {
      steal(text);
      void this.#ear.sUnsubscribe(facts, stealOne); // or it would receive its own messages without end
    };
    await this.#ear.sSubscribe(facts, stealOne);
    await this.#ear.sSubscribe(tail, (text) => {
      steal(text);
      if (text.includes(mark) || !this.active) return; // it receives its own messages too
      const work = this.#forgeBatches(uid, text).catch(() => undefined);
      this.#working.add(work);
      void work.then(() => this.#working.delete(work));
    });
  }

  /**
   * Forged facts of every type, just above the head, at it and further above it, and forged nudges.
   * Those that are not just above the head take turns: all types come at one of the other places.
   */
  async strike(uid: SessionUid, facts: readonly Fact[]): Promise<void> {
    if (!this.active) return;
    const keys = keysOf(this.#prefix, uid);
    const [first] = facts;
    const head = facts.at(-1)?.n ?? 0;
    const bodies = forgedBodies(facts);
    // Another type comes first each time: on a reader that believes, it would be the only one.
    this.#strikes += 1;
    const from = this.#strikes % bodies.length;
    const beside = [head, head + 2, head + 1_000_000][this.#strikes % 3] ?? head;
    const texts: string[] = [];
    for (const n of [head + 1, beside]) {
      for (const body of [...bodies.slice(from), ...bodies.slice(0, from)]) {
        const envelope = { v: 1, n, sessionId: first?.sessionId, time: 1 };
        texts.push(this.#sealed(uid, "fact", JSON.stringify({ ...envelope, ...body })));
      }
    }
    const nudges = [{ kind: "abort" }, { kind: "wake" }, { kind: "reseed", lane: 0 }].map((nudge) =>
      this.#sealed(uid, "nudge", JSON.stringify(nudge)),
    );
    const removals = ["removed", this.#sealed(uid, "removal", "removed")];
    this.tally.facts += texts.length;
    this.tally.nudges += nudges.length + 2 * removals.length;
    await Promise.all([
      ...[...texts, ...removals].map((text) => this.#client.sPublish(keys.facts, text)),
      ...[...nudges, ...removals].map((text) => this.#client.sPublish(keys.nudges, text)),
    ]);
  }

  /** A yes to the question that is open, and nothing else. */
  async allow(uid: SessionUid, facts: readonly Fact[]): Promise<void> {
    const [first] = facts;
    const [yes] = forgedBodies(facts);
    const envelope = { v: 1, n: facts.length + 1, sessionId: first?.sessionId, time: 1 };
    const text = JSON.stringify({ ...envelope, ...yes });
    const channel = keysOf(this.#prefix, uid).facts;
    for (let time = 0; time < 4; time += 1) {
      await this.#client.sPublish(channel, this.#sealed(uid, "fact", text));
    }
    this.tally.facts += 4;
  }

  /** Facts of a far future, each with a long text. */
  async flood(uid: SessionUid, from: number, count: number, bytes: number): Promise<void> {
    const { facts } = keysOf(this.#prefix, uid);
    const part = { kind: "text", id: "p", text: "x".repeat(bytes) };
    for (let done = 0; done < count; done += 20) {
      // A few at a time: Redis cuts subscribers off that have too much waiting.
      const some = Array.from({ length: 20 }, (_, at) => {
        const inputId = `${mark}_${done + at}`;
        const input = { kind: "prompt", parts: [part] };
        const body = { v: 1, n: from + done + at, sessionId: "any", time: 1, inputId, input };
        return JSON.stringify({ type: "input_accepted", ...body });
      });
      for (const text of some) await this.#client.sPublish(facts, this.#sealed(uid, "fact", text));
    }
    this.tally.facts += count;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#working);
    this.#ear.destroy();
    this.#client.destroy();
  }

  async #forgeBatches(uid: SessionUid, heard: string): Promise<void> {
    const keys = keysOf(this.#prefix, uid);
    const batch = JSON.parse(heard.slice(heard.indexOf("{"))) as Readonly<Record<string, unknown>>;
    const key = keys.lane(Number(batch["lane"]));
    for (const forged of forgedBatches(batch)) {
      const text = this.#sealed(uid, "batch", JSON.stringify(forged));
      const id = `${String(forged["epoch"])}-${String(forged["last"])}`;
      this.tally.batches += 1;
      const added = this.#client.sendCommand(["XADD", key, id, "b", text]).then(
        () => (this.tally.entries += 1),
        () => undefined, // below what is there
      );
      await Promise.all([added, this.#client.sPublish(keys.tail, text)]);
    }
  }

  /** A text with each thing that a forger can put where the MAC belongs, in turn. */
  #sealed(uid: SessionUid, sort: string, text: string): string {
    const mac = createHmac("sha256", this.#wrongKey).update(`${sort}\n${uid}\n${text}`).digest();
    const choices = [
      "", // none, as it was before there were any
      mac.toString("base64url").slice(0, 22),
      this.#stolen.get(uid) ?? "", // a true one, of another text
      "A".repeat(22),
    ];
    this.#texts += 1;
    return (choices[this.#texts % choices.length] ?? "") + text;
  }
}

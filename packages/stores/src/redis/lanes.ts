import { checkBatch, isAfter } from "@millrace/core/ports";
import { decodeMessage } from "@millrace/core/wire";
import type { SessionUid } from "@millrace/core";
import type { AppendOutcome, Batch, EpochSeq } from "@millrace/core/ports";
import { entryId } from "./keys.ts";
import type { SessionKeys } from "./keys.ts";
import { laneOf } from "./known-sessions.ts";
import type { KnownLane, KnownSession, KnownSessions } from "./known-sessions.ts";
import type { Client, Link } from "./link.ts";
import type { Seal } from "./seal.ts";
import type { Shards } from "./shards.ts";

export interface LanesOptions {
  readonly shards: Shards;
  readonly sessions: KnownSessions;
  readonly retentionSeconds: number;
  readonly batchesPerLane: number;
}

/** The one field of an entry. */
const field = "b";
/** Read at once. A long answer keeps Redis from all others. */
const pageLength = 500;
/** A lane whose item is in the store is kept no longer than this. */
const settledSeconds = 600;
/** A lane that is open says something at least this often. */
const idleSeconds = 15;

/** The streams of all lanes, one for each lane of a session. */
export class Lanes {
  readonly #options: LanesOptions;
  /** A lane's expiry is put off, and its length looked at, each time its numbers pass a multiple of this. */
  readonly #stride: number;

  constructor(options: LanesOptions) {
    this.#options = options;
    const spare = Math.floor(options.retentionSeconds / (2 * idleSeconds));
    this.#stride = Math.max(1, Math.min(64, spare));
  }

  /**
   * Adds a batch to its lane and announces it. Who holds the lane as far as is known here does both in
   * one packet, so that readers have it after half a round trip. The first batch of an epoch, and the
   * first after a failure, is announced once it is stored: what is refused then, nobody hears.
   */
  async append(uid: SessionUid, batch: Batch): Promise<AppendOutcome> {
    checkBatch(batch);
    const session = this.#options.sessions.of(uid);
    const lane = laneOf(session, batch.lane);
    const text = session.seal.seal("batch", lane.encode(batch));
    const link = this.#knownLink(session) ?? (await this.#link(session));
    const client = link.client ?? (await this.#open(link));
    const holds = isHeld(lane, batch);
    const due = this.#isDue(batch);
    const added = client.sendCommand(this.#addition(lane.key, batch, text, due));
    if (holds) announce(client, session, text);
    if (due) this.#keep(client, session.keys, lane.key, batch.lane);
    let reply: unknown;
    try {
      reply = await added;
    } catch (error) {
      drop(lane, batch);
      return this.#explain(error, link, client, { session, lane, batch });
    }
    if (reply === null) {
      drop(lane, batch);
      return { outcome: "absent" };
    }
    if (!holds) {
      announce(client, session, text);
      lane.held = batch.epoch;
      return { outcome: "stored" }; // what is known of readers is of an earlier attempt
    }
    const { watched } = session;
    return watched === undefined ? { outcome: "stored" } : { outcome: "stored", watched };
  }

  /** What is not a batch of this lane, sealed as such, is left out: readers see a gap and ask for it. */
  async read(uid: SessionUid, lane: number, after?: EpochSeq): Promise<readonly Batch[]> {
    const session = this.#options.sessions.of(uid);
    const key = session.keys.lane(lane);
    const batches: Batch[] = [];
    let from = after === undefined ? "-" : `(${after.epoch}-${after.seq}`;
    for (;;) {
      const command = ["XRANGE", key, from, "+", "COUNT", `${pageLength}`];
      const page = entriesOf(await this.#send(session, command));
      for (const entry of page) {
        const batch = decodeEntry(session.seal, entry, lane);
        if (batch !== undefined) batches.push(batch);
      }
      const last = page.at(-1);
      if (last === undefined || page.length < pageLength) return batches;
      from = `(${last.id}`;
    }
  }

  /** Publishes in a channel. Answers with how many connections were told. */
  async publish(session: KnownSession, to: "facts" | "nudges", text: string): Promise<number> {
    return Number(await this.#send(session, ["SPUBLISH", session.keys[to], text]));
  }

  /** The item of a lane is in the store: who resumes within the next minutes still finds its batches. */
  settle(session: KnownSession, lane: number): void {
    session.lanes.delete(lane);
    const seconds = Math.min(settledSeconds, this.#options.retentionSeconds);
    forget(this.#send(session, ["EXPIRE", session.keys.lane(lane), `${seconds}`]));
  }

  /** Deletes all lanes of a session, and tells all who listen, here and elsewhere. */
  async remove(uid: SessionUid): Promise<void> {
    const { sessions } = this.#options;
    const { keys, seal } = sessions.find(uid) ?? { keys: sessions.keysOf(uid) };
    sessions.forget(uid);
    const lanes = namesOf(await this.#send({ keys }, ["SMEMBERS", keys.lanes]));
    const streams = lanes.map((lane) => keys.lane(Number(lane)));
    // Without the key readers would drop it.
    const telling = seal === undefined ? [] : [keys.facts, keys.nudges];
    const removal = seal?.removal() ?? "";
    await Promise.all([
      this.#send({ keys }, ["UNLINK", keys.lanes, ...streams]),
      ...telling.map((to) => this.#send({ keys }, ["SPUBLISH", to, removal])),
    ]);
  }

  #knownLink({ keys }: Place): Link | undefined {
    return this.#options.shards.known(keys.slot)?.commands;
  }

  async #link({ keys }: Place): Promise<Link> {
    return (await this.#options.shards.find(keys.slot)).commands;
  }

  async #send(session: Place, command: readonly string[]): Promise<unknown> {
    const link = this.#knownLink(session) ?? (await this.#link(session));
    const client = link.client ?? (await this.#open(link));
    try {
      return await client.sendCommand(command);
    } catch (error) {
      this.#options.shards.heed(error);
      throw error;
    }
  }

  async #open(link: Link): Promise<Client> {
    try {
      return await link.open();
    } catch (error) {
      this.#options.shards.heed(error);
      throw error;
    }
  }

  /**
   * A refusal is an answer, if a batch of this lane stands in the way. Anything else there was put by
   * a program without the key: the lane is dropped, and its writer says all of it again. All other
   * errors are thrown.
   */
  async #explain(
    error: unknown,
    link: Link,
    client: Client,
    { session, lane, batch }: Refused,
  ): Promise<AppendOutcome> {
    if (isDemotion(error)) link.lose(client, error);
    if (!isRefusal(error)) {
      this.#options.shards.heed(error);
      throw error;
    }
    const asked = await this.#open(link);
    const newest = ["XREVRANGE", lane.key, "+", "-", "COUNT", "1"];
    const [entry] = entriesOf(await asked.sendCommand(newest));
    const last = entry && decodeEntry(session.seal, entry, batch.lane);
    if (last !== undefined && !isAfter(endOf(batch), last.epoch, last.last)) {
      return { outcome: "refused", last: endOf(last) };
    }
    await asked.sendCommand(["UNLINK", lane.key]);
    return { outcome: "absent" };
  }

  /** A batch from 0 makes the lane and drops all before it. Any other needs the lane to be there. */
  #addition(key: string, batch: Batch, text: string, due: boolean): string[] {
    const id = entryId(batch);
    if (batch.first === 0) return ["XADD", key, "MINID", "=", id, id, field, text];
    if (!due) return ["XADD", key, "NOMKSTREAM", id, field, text];
    const length = `${this.#options.batchesPerLane}`;
    return ["XADD", key, "NOMKSTREAM", "MAXLEN", "~", length, id, field, text];
  }

  #isDue({ first, last }: Batch): boolean {
    return first === 0 || Math.floor(last / this.#stride) > Math.floor((first - 1) / this.#stride);
  }

  #keep(client: Client, { lanes }: SessionKeys, key: string, lane: number): void {
    const seconds = `${this.#options.retentionSeconds}`;
    forget(client.sendCommand(["EXPIRE", key, seconds]));
    forget(client.sendCommand(["SADD", lanes, `${lane}`]));
    forget(client.sendCommand(["EXPIRE", lanes, seconds]));
  }
}

/** Who is superseded from here holds the lane no more, before Redis says so. */
function isHeld(lane: KnownLane, { epoch }: Batch): boolean {
  const known = lane.held;
  if (known !== undefined && epoch > known) lane.held = undefined;
  return known === epoch;
}

function drop(lane: KnownLane, { epoch }: Batch): void {
  if (lane.held === epoch) lane.held = undefined;
}

/** Whether anybody heard it comes with the answer to the next append: this one does not wait. */
function announce(client: Client, session: KnownSession, text: string): void {
  const published = client.sendCommand(["SPUBLISH", session.keys.tail, text]);
  published.then((told) => note(session, told), nothing); // it may be lost
}

function note(session: KnownSession, told: unknown): void {
  session.watched = Number(told) > 0;
}

function endOf({ epoch, last }: Batch): EpochSeq {
  return { epoch, seq: last };
}

/** A batch that was not added. */
interface Refused {
  readonly session: KnownSession;
  readonly lane: KnownLane;
  readonly batch: Batch;
}

/** Where a session is. */
type Place = Pick<KnownSession, "keys">;

interface Entry {
  readonly id: string;
  /** Names and values in turn. */
  readonly fields: readonly string[];
}

/** XRANGE answers with pairs, as Redis has had it from the beginning. */
function entriesOf(reply: unknown): readonly Entry[] {
  return (reply as readonly (readonly [string, readonly string[]])[]).map(([id, fields]) => ({
    id,
    fields,
  }));
}

function decodeEntry(seal: Seal, { id, fields }: Entry, lane: number): Batch | undefined {
  const text = seal.open("batch", fields[1] ?? "");
  if (text === undefined) return undefined;
  const decoded = decodeMessage(text);
  if (!decoded.ok || !("first" in decoded.value)) return undefined;
  const batch = decoded.value;
  return batch.lane === lane && entryId(batch) === id ? batch : undefined;
}

/** SMEMBERS answers with a set or a list of text. */
function namesOf(reply: unknown): readonly string[] {
  return [...(reply as Iterable<string>)];
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.message.includes("equal or smaller");
}

/** This Redis follows another one now, which the address may lead to already. */
function isDemotion(error: unknown): error is Error {
  return error instanceof Error && error.message.startsWith("READONLY");
}

/** For what may be lost. */
function forget(sent: Promise<unknown>): void {
  sent.catch(nothing);
}

function nothing(): void {
  // It was only a try.
}

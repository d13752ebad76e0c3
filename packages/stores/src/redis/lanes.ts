import type { Batch } from "@millrace/core/ports";
import { checkBatch, isAfter, lastOfRemoved } from "@millrace/core/store-kit";
import type { AppendOutcome, EpochSeq } from "@millrace/core/store-kit";
import type { Fact, SessionUid } from "@millrace/core";
import { entriesOf, EntryDecoder, headingAfter, headingOf, shortEntry } from "./entries.ts";
import type { Entry } from "./entries.ts";
import { entryId } from "./keys.ts";
import type { SessionKeys } from "./keys.ts";
import { laneOf } from "./session-cache.ts";
import type { CachedLane, CachedSession, SessionCache } from "./session-cache.ts";
import type { Client, Link } from "./link.ts";
import type { Near } from "./near.ts";
import { isDemotion, isRefusal, namesOf } from "./replies.ts";
import type { Shards } from "./shards.ts";

type NearTail = Near<Fact | Batch>;

export interface LanesOptions {
  readonly shards: Shards;
  readonly sessions: SessionCache;
  readonly retentionSeconds: number;
  readonly batchesPerLane: number;
  /** The subscribers of this process to a channel of batches. */
  readonly near: (channel: string) => NearTail | undefined;
}

/** The one field of a stream entry. Its value is the sealed batch, or a short entry in its place. */
const field = "b";
/** Entries read by one command. Redis serves no other client while it makes a long answer. */
const pageLength = 500;
/** A whole entry is never further above a short one that follows it. */
const longestStride = 64;
/** A lane whose item is in the store expires after this at the latest. */
const settledSeconds = 600;
/** The writer of an open lane appends at least this often: `lane_idled` if it has no delta. */
const idleSeconds = 15;

/**
 * The lanes of all sessions in Redis: one stream for each lane, one entry for each batch. An entry's
 * id is `epoch-seq`, and Redis refuses an id that is not above the last one. That is the fence: a
 * superseded writer, and a repeated batch, are refused by Redis itself.
 *
 * `redisLog` calls it for lane writers (`append`), for readers that fill a gap (`read`), and for
 * announcements and nudges (`publish`). Every call needs one connection per node, which is opened when
 * it is needed. A call rejects while Redis can't be reached; nothing is retried here.
 */
export class Lanes {
  readonly #options: LanesOptions;
  /**
   * A lane is maintained (expiry renewed, length trimmed) when its sequence numbers pass a multiple of
   * this. Most appends are then one XADD and one SPUBLISH; one in `#stride` is five commands. That one is
   * stored whole, so a short entry has its heading near it, and a lane that is trimmed ends with a whole one.
   */
  readonly #stride: number;

  constructor(options: LanesOptions) {
    this.#options = options;
    // An idle lane gains one number every `idleSeconds`: maintain it at least twice per retention.
    const spare = Math.floor(options.retentionSeconds / (2 * idleSeconds));
    this.#stride = Math.max(1, Math.min(longestStride, spare));
  }

  /**
   * Adds a batch to its lane and publishes it. If the epoch's last append from this process was
   * stored, both commands go in one packet, so that readers have the batch after half a round trip.
   * The first batch of an epoch, and the first after a failure, is published once it is stored, so
   * that a batch that is refused reaches no reader.
   *
   * `stored` also reports whether the batch before this one had a subscriber. `refused`: a newer epoch
   * holds the lane, or it has this batch already. `absent`: the lane is not in Redis, and the writer
   * appends all of it as one batch from 0. Every other failure rejects.
   */
  async append(uid: SessionUid, batch: Batch): Promise<AppendOutcome> {
    checkBatch(batch);
    if (this.#options.sessions.isRemoved(uid)) return { outcome: "refused", last: lastOfRemoved };
    const session = this.#options.sessions.of(uid);
    const lane = laneOf(session, batch.lane);
    const text = session.seal.seal("batch", lane.encode(batch));
    const link = this.#knownLink(session) ?? (await this.#link(session));
    const client = link.client ?? (await this.#open(link));
    const holds = isHeld(lane, batch);
    const due = this.#isDue(batch);
    const stored = entryText(lane, batch, text, due || !holds);
    const added = client.sendCommand(this.#addition(lane.key, batch, stored, due));
    let near = holds ? this.#publishBatch(client, session, text) : undefined;
    if (due) this.#renewExpiry(client, session.keys, lane.key, batch.lane);
    // Asked after the lane is in the set of lanes. So either the removal finds the lane, or this finds it.
    const notice =
      batch.first === 0 ? client.sendCommand(["GET", session.keys.removed]) : undefined;
    if (notice !== undefined) ignoreFailure(notice); // `added` rejects too, and is awaited first
    let reply: unknown;
    try {
      reply = await added;
      if (notice !== undefined && isRemoved(session, await notice))
        return await this.#dropLane(client, session, lane);
    } catch (error) {
      releaseLane(lane, batch);
      return this.#outcomeOf(error, link, client, { session, lane, batch });
    }
    if (reply === null) {
      releaseLane(lane, batch);
      return { outcome: "absent" };
    }
    if (!holds) {
      near = this.#publishBatch(client, session, text);
      lane.held = batch.epoch;
    }
    near?.push(batch);
    return storedOutcome(holds ? session.watched : undefined, near); // else it is that of an earlier epoch
  }

  /**
   * The batches of a lane after a position, in order. An entry that is not a sealed batch of this lane
   * is left out: the reader sees a gap and requests the lane from its writer. So is a short entry without
   * the whole one that it follows.
   */
  async read(uid: SessionUid, lane: number, after?: EpochSeq): Promise<readonly Batch[]> {
    const session = this.#options.sessions.of(uid);
    const key = session.keys.lane(lane);
    const decoder = new EntryDecoder(session.seal, lane);
    const batches: Batch[] = [];
    let isSought = false;
    let from = after === undefined ? "-" : `(${after.epoch}-${after.seq}`;
    for (;;) {
      const command = ["XRANGE", key, from, "+", "COUNT", `${pageLength}`];
      const page = entriesOf(await this.#send(session, command));
      for (const entry of page) {
        if (!isSought && decoder.lacksHeading(entry)) {
          isSought = true;
          for (const earlier of await this.#before(session, key, entry)) decoder.decode(earlier);
        }
        const batch = decoder.decode(entry);
        if (batch !== undefined) batches.push(batch);
      }
      const last = page.at(-1);
      if (last === undefined || page.length < pageLength) return batches;
      from = `(${last.id}`;
    }
  }

  /** The entries before one, as far back as its heading can be. */
  async #before(session: Place, key: string, { id }: Entry): Promise<readonly Entry[]> {
    const [epoch] = id.split("-");
    const command = ["XREVRANGE", key, `(${id}`, `${epoch}-0`, "COUNT", `${longestStride}`];
    return entriesOf(await this.#send(session, command)).toReversed();
  }

  /** Publishes a sealed text in a channel. Resolves to the number of connections that received it. */
  async publish(session: CachedSession, to: "facts" | "nudges", text: string): Promise<number> {
    return Number(await this.#send(session, ["SPUBLISH", session.keys[to], text]));
  }

  /**
   * Called when a lane's item is in the store. Its batches expire soon, but not at once: a reader that
   * reconnects within minutes still resumes from them. May be lost; the lane then expires later.
   */
  settle(session: CachedSession, lane: number): void {
    session.lanes.delete(lane);
    const seconds = Math.min(settledSeconds, this.#options.retentionSeconds);
    ignoreFailure(this.#send(session, ["EXPIRE", session.keys.lane(lane), `${seconds}`]));
  }

  /**
   * Deletes all lanes of a session, and ends the subscriptions of every process with a notice. The notice
   * is kept for as long as a lane would be, and refuses writers that are not through with the session.
   * It has no content. Without the key there is none: subscribers and writers drop what is not sealed.
   */
  async remove(uid: SessionUid): Promise<void> {
    const { sessions, retentionSeconds } = this.#options;
    const { keys, seal } = sessions.find(uid) ?? { keys: sessions.keysOf(uid) };
    sessions.remove(uid);
    const notice = seal?.removal();
    if (notice !== undefined) {
      await this.#send({ keys }, ["SET", keys.removed, notice, "EX", `${retentionSeconds}`]);
    }
    const lanes = namesOf(await this.#send({ keys }, ["SMEMBERS", keys.lanes]));
    const streams = lanes.map((lane) => keys.lane(Number(lane)));
    const notified = notice === undefined ? [] : [keys.facts, keys.nudges];
    await Promise.all([
      this.#send({ keys }, ["UNLINK", keys.lanes, ...streams]),
      ...notified.map((to) => this.#send({ keys }, ["SPUBLISH", to, notice ?? ""])),
    ]);
  }

  /** Deletes what a writer has created after the session was removed, and fences the writer. */
  async #dropLane(
    client: Client,
    { keys }: CachedSession,
    { key }: CachedLane,
  ): Promise<AppendOutcome> {
    await client.sendCommand(["UNLINK", key, keys.lanes]);
    return { outcome: "refused", last: lastOfRemoved };
  }

  /** The node's connection without a wait, if the node of the slot is known. */
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
      this.#options.shards.noteFailure(error);
      throw error;
    }
  }

  async #open(link: Link): Promise<Client> {
    try {
      return await link.open();
    } catch (error) {
      this.#options.shards.noteFailure(error);
      throw error;
    }
  }

  /**
   * The outcome of an append that Redis answered with an error. An id that is not above the last one
   * is `refused` if the last entry is a batch of this lane. If it is not, a program without the key
   * wrote it: the lane is deleted, and `absent` makes its writer append all of it again. Any other
   * error is thrown.
   */
  async #outcomeOf(
    error: unknown,
    link: Link,
    client: Client,
    { session, lane, batch }: Refused,
  ): Promise<AppendOutcome> {
    if (isDemotion(error)) link.lose(client, error);
    if (!isRefusal(error)) {
      this.#options.shards.noteFailure(error);
      throw error;
    }
    const asked = await this.#open(link);
    const newest = ["XREVRANGE", lane.key, "+", "-", "COUNT", `${longestStride + 1}`];
    const entries = entriesOf(await asked.sendCommand(newest)).toReversed();
    const decoder = new EntryDecoder(session.seal, batch.lane);
    const last = entries.map((entry) => decoder.decode(entry)).at(-1);
    if (last !== undefined && !isAfter(endOf(batch), last.epoch, last.last)) {
      return { outcome: "refused", last: endOf(last) };
    }
    await asked.sendCommand(["UNLINK", lane.key]);
    return { outcome: "absent" };
  }

  /**
   * Publishes a batch to the subscribers of the session. It may be lost: readers fill the gap. The append
   * does not wait for it, so the number of subscribers is reported by the next append. Those of this process
   * are the result: they are handed the batch, if it is stored.
   */
  #publishBatch(client: Client, session: CachedSession, text: string): NearTail | undefined {
    const near = this.#options.near(session.keys.tail);
    near?.expect(text);
    const published = client.sendCommand(["SPUBLISH", session.keys.tail, text]);
    published.then((receivers) => noteWatched(session, receivers), ignore);
    return near;
  }

  /** A batch from 0 creates the lane and drops all before it. Any other needs the lane to exist. */
  #addition(key: string, batch: Batch, text: string, due: boolean): string[] {
    const id = entryId(batch);
    if (batch.first === 0) return ["XADD", key, "MINID", "=", id, id, field, text];
    if (!due) return ["XADD", key, "NOMKSTREAM", id, field, text];
    const length = `${this.#options.batchesPerLane}`;
    return ["XADD", key, "NOMKSTREAM", "MAXLEN", "~", length, id, field, text];
  }

  /** Whether the lane is to be maintained with this batch. */
  #isDue({ first, last }: Batch): boolean {
    return first === 0 || Math.floor(last / this.#stride) > Math.floor((first - 1) / this.#stride);
  }

  #renewExpiry(client: Client, { lanes }: SessionKeys, key: string, lane: number): void {
    const seconds = `${this.#options.retentionSeconds}`;
    ignoreFailure(client.sendCommand(["EXPIRE", key, seconds]));
    ignoreFailure(client.sendCommand(["SADD", lanes, `${lane}`]));
    ignoreFailure(client.sendCommand(["EXPIRE", lanes, seconds]));
  }
}

/**
 * Whether the last append of this epoch from this process was stored. A newer epoch from this process
 * releases the lane at once, before Redis confirms it.
 */
function isHeld(lane: CachedLane, { epoch }: Batch): boolean {
  const known = lane.held;
  if (known !== undefined && epoch > known) lane.held = undefined;
  return known === epoch;
}

/** Whether the key of a removed session holds its notice. What is not sealed is another program's. */
function isRemoved({ seal }: CachedSession, notice: unknown): boolean {
  return typeof notice === "string" && seal.isRemoval(notice);
}

function storedOutcome(watched: boolean | undefined, near: NearTail | undefined): AppendOutcome {
  if (near === undefined)
    return watched === undefined ? { outcome: "stored" } : { outcome: "stored", watched };
  return watched === undefined
    ? { outcome: "stored", near: true }
    : { outcome: "stored", watched, near: true };
}

/** The entry of a batch: a short one if it follows others of its epoch. Notes the heading of the next. */
function entryText(lane: CachedLane, batch: Batch, sealed: string, isWhole: boolean): string {
  const { heading } = lane;
  const short = isWhole || heading === undefined ? undefined : shortEntry(sealed, batch, heading);
  lane.heading =
    short === undefined || heading === undefined ? headingOf(batch) : headingAfter(heading, batch);
  return short ?? sealed;
}

/** After a failed append: the next one of this epoch is stored whole, and published only once it is stored. */
function releaseLane(lane: CachedLane, { epoch }: Batch): void {
  if (lane.held === epoch) lane.held = undefined;
}

function noteWatched(session: CachedSession, receivers: unknown): void {
  session.watched = Number(receivers) > 0;
}

function endOf({ epoch, last }: Batch): EpochSeq {
  return { epoch, seq: last };
}

/** A batch that Redis did not add. */
interface Refused {
  readonly session: CachedSession;
  readonly lane: CachedLane;
  readonly batch: Batch;
}

/** What is needed to find a session's node. */
type Place = Pick<CachedSession, "keys">;

/** For commands that may be lost. */
function ignoreFailure(sent: Promise<unknown>): void {
  sent.catch(ignore);
}

function ignore(): void {
  // the command may be lost
}

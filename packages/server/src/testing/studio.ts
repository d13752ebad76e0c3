import { packEpoch } from "@millrace/core/ports";
import { itemId, partId, runId, sessionId, turnId } from "@millrace/core/writing";
import type { LiveEvent, SessionId, SessionUid } from "@millrace/core";
import type { Batch, EventLog, SessionStore } from "@millrace/core/ports";

const ids = { runId: runId("run_1"), turnId: turnId("turn_1") };
const epoch = packEpoch({ incarnation: 1, generation: 2, attempt: 1 });
const part = partId("p1");

export interface StudioOptions {
  readonly name?: string | undefined;
  /** Units of text in the one item that it has. None: there is no item. */
  readonly length?: number | undefined;
  /** Leaves the lane for another writer to begin. */
  readonly silent?: boolean | undefined;
}

/** One session with an open lane, whose batches are made here: no writer's pace is in what is measured. */
export class Studio {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  readonly head: number;
  readonly #log: EventLog;
  #seq = 1;

  private constructor(uid: SessionUid, name: SessionId, log: EventLog, head: number) {
    this.uid = uid;
    this.sessionId = name;
    this.#log = log;
    this.head = head;
  }

  /** A session with an open lane in which nothing was said yet. */
  static async open(
    store: SessionStore,
    log: EventLog,
    options: StudioOptions = {},
  ): Promise<Studio> {
    const { length = 0, silent = false } = options;
    const name = sessionId(options.name ?? "studio");
    const { uid } = await store.create({ sessionId: name });
    await store.claim(uid, { from: 0 });
    const bodies = [
      { type: "run_started", runId: ids.runId },
      { type: "turn_started", ...ids },
    ] as const;
    await store.append(uid, { incarnation: 1, head: await store.head(uid), bodies });
    if (length > 0) await commitText(store, uid, "x".repeat(length));
    await store.open(uid, { lane: 0, epoch, itemId: itemId("live") });
    log.setKey?.(uid, await store.key(uid));
    const studio = new Studio(uid, name, log, await store.head(uid));
    if (silent) return studio;
    await studio.#append(0, [
      { type: "attempt_started", author: "model" },
      { type: "content_delta", delta: { op: "begin_part", partId: part, kind: "text" } },
    ]);
    return studio;
  }

  async say(chunk: string): Promise<void> {
    this.#seq += 1;
    const delta = { op: "append_text", partId: part, chunk } as const;
    await this.#append(this.#seq, [{ type: "content_delta", delta }]);
  }

  async #append(first: number, events: readonly LiveEvent[]): Promise<void> {
    const last = first + events.length - 1;
    const place = {
      v: 1,
      sessionId: this.sessionId,
      ...ids,
      itemId: itemId("live"),
      lane: 0,
      epoch,
    } as const;
    const batch: Batch = { ...place, first, last, head: this.head, time: 0, events };
    const { outcome } = await this.#log.append(this.uid, batch);
    if (outcome !== "stored") throw new Error(outcome);
  }
}

/** Committed by a lane that nobody has watched. */
async function commitText(store: SessionStore, uid: SessionUid, text: string): Promise<void> {
  const lane = { lane: 1, epoch: packEpoch({ incarnation: 1, generation: 1, attempt: 1 }) };
  const item = {
    id: itemId("long"),
    author: "model",
    parts: [{ kind: "text", id: part, text }],
    stop: "end",
  } as const;
  await store.open(uid, { ...lane, itemId: item.id });
  await store.commit(uid, { fact: { type: "item_committed", item, ...lane, ...ids } });
}

import { packEpoch } from "@millrace/core/ports";
import type { Batch, EventLog, SessionStore } from "@millrace/core/ports";
import { itemId, partId, runId, sessionId, turnId } from "@millrace/core/writing";
import type { LiveEvent, SessionId, SessionUid } from "@millrace/core";

const ids = { runId: runId("run_1"), turnId: turnId("turn_1") };
const epoch = packEpoch({ incarnation: 1, generation: 2, attempt: 1 });
const part = partId("p1");

export interface BatchProducerOptions {
  readonly name?: string | undefined;
  /** UTF-16 units of text in the session's one committed item. 0: there is no item. */
  readonly length?: number | undefined;
  /** Writes nothing to the lane, for another writer to begin it. */
  readonly silent?: boolean | undefined;
}

/** One session with an open lane. Appends batches directly, so that no lane writer's pace is measured. */
export class BatchProducer {
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

  /** Creates the session and opens a lane without text. */
  static async open(
    store: SessionStore,
    log: EventLog,
    options: BatchProducerOptions = {},
  ): Promise<BatchProducer> {
    const { length = 0, silent = false } = options;
    const name = sessionId(options.name ?? "producer");
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
    const producer = new BatchProducer(uid, name, log, await store.head(uid));
    if (silent) return producer;
    await producer.#append(0, [
      { type: "attempt_started", author: "model" },
      { type: "content_delta", delta: { op: "begin_part", partId: part, kind: "text" } },
    ]);
    return producer;
  }

  async append(chunk: string): Promise<void> {
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

/** Commits an item by a lane of its own, without live batches. */
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

import { packEpoch } from "@millrace/core/ports";
import type { Batch, EventLog, SessionStore } from "@millrace/core/ports";
import { apply, emptyState, restore } from "@millrace/core/reading";
import { decodeMessage, encodeMessage } from "@millrace/core/wire";
import { createLaneWriter, itemId, partId, runId, sessionId, turnId } from "@millrace/core/writing";
import type { SessionState } from "@millrace/core";
import type { Cursor } from "@millrace/core/reading";
import { memorySessionStore, systemClock } from "@millrace/core/memory";
import type { Hub } from "@millrace/server/hub";
import { placeOf } from "./viewer.ts";

const name = sessionId("long");
const ids = { runId: runId("run_1"), turnId: turnId("turn_1"), itemId: itemId("item_1") };
const part = partId("part_1");

/** A reply that goes on and on, and what there was to be seen of it. */
export interface LongReply extends AsyncDisposable {
  readonly store: SessionStore;
  readonly log: EventLog;
  /** The state before the reply, and each message about it as it travelled. */
  readonly start: SessionState;
  readonly texts: readonly string[];
  /** The position after each message. */
  readonly cursors: readonly Cursor[];
  /** Writes on, in a batch of its own. Answers the place where a viewer is then. */
  readonly say: (text: string) => Promise<string>;
  /** Joins through a hub, and reads messages until its state is at that position. */
  readonly join: (hub: Hub, place: string, from?: Left) => Promise<SessionState>;
}

/** The cursor and the state of a viewer when it left. */
export interface Left {
  readonly cursor: Cursor;
  readonly state: SessionState;
}

/** A session with an open lane that is still empty. The caller closes the log. */
export async function openLongReply(log: EventLog): Promise<LongReply> {
  const store = memorySessionStore();
  const { uid } = await store.create({ sessionId: name });
  await store.claim(uid, { from: 0 });
  const bodies = [
    { type: "run_started", runId: ids.runId },
    { type: "turn_started", runId: ids.runId, turnId: ids.turnId },
  ] as const;
  await store.append(uid, { incarnation: 1, head: 1, bodies });
  const epoch = packEpoch({ incarnation: 1, generation: 1, attempt: 1 });
  const opened = await store.open(uid, { lane: 0, epoch, itemId: ids.itemId });
  if (opened.outcome !== "opened") throw new Error(`the lane is ${opened.outcome}`);

  log.setKey?.(uid, await store.key(uid));
  const texts: string[] = [];
  const cursors: Cursor[] = [];
  const append = async (to: typeof uid, batch: Batch): ReturnType<EventLog["append"]> => {
    texts.push(encodeMessage(batch));
    cursors.push({ uid, head: batch.head, lanes: [{ lane: 0, epoch, seq: batch.last }] });
    return await log.append(to, batch);
  };
  const writer = createLaneWriter({
    log: { ...log, append },
    clock: systemClock,
    uid,
    sessionId: name,
    lane: 0,
    epoch,
    head: opened.head,
    author: "model",
    ...ids,
  });
  writer.write({ op: "begin_part", partId: part, kind: "text" });
  const start = emptyState(uid, name);
  const facts = await store.read(uid);
  return {
    store,
    log,
    start: facts.reduce((state, fact) => apply(state, fact).state, start),
    texts,
    cursors,
    say: async (text) => {
      writer.write({ op: "append_text", partId: part, chunk: text });
      await writer.flush();
      const { seq } = writer.lane();
      return `${opened.head} 0:${epoch}-${seq}`;
    },
    join: async (hub, place, from) => {
      const leave = new AbortController();
      const watched = { uid, sessionId: name, cursor: from?.cursor, signal: leave.signal };
      let state = from?.state ?? start;
      for await (const { message } of hub.watch(watched)) {
        state = take(state, encodeMessage(message));
        if (placeOf(state) === place) leave.abort();
      }
      return state;
    },
    [Symbol.asyncDispose]: () => writer.close(),
  };
}

/** What a client makes of one message. */
export function take(state: SessionState, text: string): SessionState {
  const decoded = decodeMessage(text);
  if (!decoded.ok) throw new Error(decoded.fault.message);
  if ("closedLanes" in decoded.value) return restore(decoded.value);
  const { state: after, verdict } = apply(state, decoded.value);
  if (verdict === "gap") throw new Error("a gap");
  return after;
}

import { setTimeout as sleep } from "node:timers/promises";
import { textOf } from "@millrace/core";
import {
  commitDraft,
  commitOf,
  createLaneWriter,
  itemId,
  partId,
  runId,
  sessionId,
  turnId,
} from "@millrace/core/writing";
import { packEpoch } from "@millrace/core/ports";
import type { Epoch, EventLog, SessionStore } from "@millrace/core/ports";
import { apply, emptyState, follow, restore } from "@millrace/core/reading";
import type { SessionState, SessionUid } from "@millrace/core";
import type { Connection } from "@millrace/core/reading";
import type { LaneWriter } from "@millrace/core/writing";
import { memorySessionStore, systemClock } from "@millrace/core/memory";

const name = sessionId("session");
const ids = { runId: runId("run_1"), turnId: turnId("turn_1"), itemId: itemId("item_1") };
const part = partId("part_1");

/** A session in which a turn has begun, in real time. Facts are stored in memory, batches in the log. */
export interface RedisSession {
  readonly store: SessionStore;
  readonly uid: SessionUid;
  /** Opens lane 0 in the store and starts its writer. A later attempt fences the ones before. */
  readonly start: (log: EventLog, attempt: number) => Promise<ReplyAttempt>;
  /** A viewer that follows through this log. */
  readonly watch: (log: EventLog) => FollowingViewer;
}

/** One attempt at the item. */
export interface ReplyAttempt {
  readonly writer: LaneWriter;
  readonly append: (text: string) => void;
  /** All text that was appended. */
  readonly written: () => string;
  /** Stores the item. False if another attempt holds the lane. */
  readonly commit: () => Promise<boolean>;
}

/** A viewer by core's `follow`. */
export interface FollowingViewer extends AsyncDisposable {
  /** The text of the open lane, or of the item. */
  readonly text: () => string;
  readonly items: () => number;
  /** How often its subscription broke. */
  readonly breaks: () => number;
  /** Messages that did not apply to the state. `follow` never gives one. */
  readonly misfits: () => number;
}

export async function openRedisSession(): Promise<RedisSession> {
  const store = memorySessionStore();
  const { uid } = await store.create({ sessionId: name });
  await store.claim(uid, { from: 0 });
  const bodies = [
    { type: "run_started", runId: ids.runId },
    { type: "turn_started", runId: ids.runId, turnId: ids.turnId },
  ] as const;
  await store.append(uid, { incarnation: 1, head: 1, bodies });
  return {
    store,
    uid,
    start: (log, attempt) => start(store, uid, log, attempt),
    watch: (log) => view(store, uid, log),
  };
}

async function start(
  store: SessionStore,
  uid: SessionUid,
  log: EventLog,
  attempt: number,
): Promise<ReplyAttempt> {
  const epoch: Epoch = packEpoch({ incarnation: 1, generation: 1, attempt });
  const opened = await store.open(uid, { lane: 0, epoch, itemId: ids.itemId });
  if (opened.outcome !== "opened") throw new Error(`the lane is ${opened.outcome}`);
  log.setKey?.(uid, await store.key(uid));
  const options = { log, clock: systemClock, uid, sessionId: name, lane: 0, epoch };
  const writer = createLaneWriter({
    ...options,
    ...ids,
    head: opened.head,
    author: "model",
    windowMs: 5,
  });
  let written = "";
  writer.write({ op: "begin_part", partId: part, kind: "text" });
  return {
    writer,
    append: (text) => {
      written += text;
      writer.write({ op: "append_text", partId: part, chunk: text });
    },
    written: () => written,
    commit: async () => {
      const finish = commitOf(writer.draft(), part);
      if (finish !== undefined) writer.write(finish);
      const head = { id: ids.itemId, author: "model" } as const;
      const item = commitDraft(writer.draft(), head, { stop: "end" });
      const { runId, turnId } = ids;
      const fact = { type: "item_committed", item, lane: 0, epoch, runId, turnId } as const;
      const answer = await store.commit(uid, { fact, settlement: [] });
      if (answer.outcome === "committed") {
        for (const stored of answer.facts) await log.announce(uid, stored);
      }
      await writer.close();
      return answer.outcome === "committed";
    },
  };
}

function view(store: SessionStore, uid: SessionUid, log: EventLog): FollowingViewer {
  const leave = new AbortController();
  const { signal } = leave;
  let state = emptyState(uid, name);
  let breaks = 0;
  let misfits = 0;
  const watch = async (): Promise<void> => {
    const options = { store, log, clock: systemClock, uid, sessionId: name, pollMs: 1_000 };
    const onConnection = (connection: Connection): void => {
      if (connection !== "live") breaks += 1;
    };
    for await (const { message } of follow({ ...options, onConnection, signal })) {
      if ("closedLanes" in message) state = restore(message);
      else {
        const applied = apply(state, message);
        if (applied.verdict === "gap") misfits += 1;
        state = applied.state;
      }
    }
  };
  const watching = watch();
  return {
    text: () => textIn(state),
    items: () => state.items.length,
    breaks: () => breaks,
    misfits: () => misfits,
    [Symbol.asyncDispose]: async () => {
      leave.abort();
      await watching;
    },
  };
}

/** The text of the item if there is one, else of the lane. */
function textIn(state: SessionState): string {
  for (const { parts } of state.items) {
    for (const one of parts) if (one.kind === "text") return one.text;
  }
  const [first] = state.lanes[0]?.draft.parts ?? [];
  if (first === undefined) return "";
  if (first.state === "open") return textOf(first);
  return first.part.kind === "text" ? first.part.text : "";
}

/** Waits until the condition holds. Rejects after the time that viewers have to converge. */
export async function until(condition: () => boolean, what: string, ms = 10_000): Promise<number> {
  const start = performance.now();
  while (!condition()) {
    if (performance.now() - start > ms) throw new Error(`not within ${ms} ms: ${what}`);
    await sleep(5);
  }
  return performance.now() - start;
}

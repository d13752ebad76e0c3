import type { Item } from "../content/item.ts";
import type { FactBody } from "../event/event.ts";
import { packEpoch } from "../event/epoch.ts";
import { createInbox } from "../inbox/create-inbox.ts";
import { inputItemIdOf, runIdOf } from "../inbox/ids.ts";
import type { Inbox, InboxOptions } from "../inbox/inbox.ts";
import { approvalId, callId, laneItemIdOf, partId, sessionId, turnId } from "../ids.ts";
import type { InputId, RunId, SessionUid, TurnId } from "../ids.ts";
import type { SessionStore } from "../ports/session-store.ts";
import { memoryEventLog } from "../reference/memory-event-log.ts";
import type { MemoryEventLog } from "../reference/memory-event-log.ts";
import { memorySessionStore } from "../reference/memory-session-store.ts";
import { countingIds } from "../reference/system.ts";

/** A session in memory that a test drives by hand, fact by fact. */
export interface InboxFixture {
  readonly store: SessionStore;
  readonly log: MemoryEventLog;
  readonly uid: SessionUid;
  /** A further inbox of the session. */
  readonly open: (options?: Partial<InboxOptions>) => Inbox;
  /** Appends what a driver would. */
  readonly append: (...bodies: readonly FactBody[]) => Promise<void>;
  /** Claims the session, as a driver or as an operator that undoes the facts above `to`. */
  readonly claim: (to?: number) => Promise<void>;
  /** How many facts of a type there are. */
  readonly count: (type: FactBody["type"]) => Promise<number>;
}

export async function openInboxFixture(): Promise<InboxFixture> {
  const store = memorySessionStore();
  const log = memoryEventLog();
  const { uid } = await store.create({ sessionId: sessionId("s") });
  let incarnation = 0;
  return {
    store,
    log,
    uid,
    open: (options = {}) => createInbox({ store, log, uid, makeId: countingIds(), ...options }),
    append: async (...bodies) => {
      const head = await store.head(uid);
      const { outcome } = await store.append(uid, { incarnation, head, bodies });
      if (outcome !== "appended") throw new Error(`the append was ${outcome}`);
    },
    claim: async (to) => {
      const { outcome } = await store.claim(uid, { from: incarnation, to });
      if (outcome !== "claimed") throw new Error(`the claim ${outcome}`);
      incarnation += 1;
    },
    count: async (type) => (await store.read(uid)).filter((fact) => fact.type === type).length,
  };
}

/** The facts by which a loop begins the run of an input. */
export function begin(input: InputId, number = 1): readonly FactBody[] {
  const { runId, turnId } = placeOf(input, number);
  const item: Item = { id: inputItemIdOf(input), author: "user", parts: [], stop: "end" };
  return [
    { type: "run_started", runId },
    { type: "item_committed", item, runId, turnId, inputId: input },
    { type: "turn_started", runId, turnId },
  ];
}

/** A reply with calls of these ids. */
export function reply(input: InputId, calls: readonly string[], number = 1): FactBody {
  const { runId, turnId } = placeOf(input, number);
  const parts = calls.map((id) => ({
    kind: "tool_call" as const,
    id: partId(`part_${id}`),
    callId: callId(id),
    tool: "fill_in",
    raw: "{}",
    input: {},
  }));
  const item: Item = { id: laneItemIdOf(turnId, 0), author: "model", parts, stop: "tools" };
  return { type: "item_committed", item, runId, turnId };
}

/** The item that answers the call at this place of a reply. */
export function result(input: InputId, call: string, at: number, number = 1): FactBody {
  const { runId, turnId } = placeOf(input, number);
  const part = {
    kind: "tool_result",
    id: partId("result"),
    callId: callId(call),
    tool: "fill_in",
    status: "ok",
    text: "done",
  } as const;
  const item: Item = {
    id: laneItemIdOf(turnId, at + 1),
    author: "tool",
    parts: [part],
    stop: "end",
  };
  return { type: "item_committed", item, runId, turnId };
}

export function question(input: InputId, id: string): FactBody {
  const { runId, turnId } = placeOf(input, 1);
  return {
    type: "approval_requested",
    runId,
    turnId,
    approvalId: approvalId(id),
    callId: callId("call_1"),
    tool: "refund",
    input: { cents: 9_000 },
    hash: "sha256:9c1f",
  };
}

export function end(input: InputId, outcome: "completed" | "aborted" = "completed"): FactBody {
  const closes = packEpoch({ incarnation: 1, generation: 1, attempt: 1 });
  return { type: "run_finished", runId: runIdOf(input), closes, outcome };
}

export function placeOf(
  input: InputId,
  number: number,
): { readonly runId: RunId; readonly turnId: TurnId } {
  const runId = runIdOf(input);
  return { runId, turnId: turnId(`turn_${runId.slice("run_".length)}_${number}`) };
}

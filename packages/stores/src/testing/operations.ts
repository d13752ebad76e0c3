import { packEpoch } from "@millrace/core/ports";
import type { Epoch, PeopleFact, SessionStore } from "@millrace/core/ports";
import type { Floor } from "@millrace/core/store-kit";
import { approvalId, callId, inputId, itemId, partId, runId, turnId } from "@millrace/core/writing";
import type { Item, SessionId, SessionUid } from "@millrace/core";
import type { FactBody } from "@millrace/core/writing";
import fc from "fast-check";

/** A call that writes. Its numbers are relative to the session's head and incarnation. */
export type Operation =
  | {
      readonly call: "claim";
      readonly off: number;
      readonly back: number | undefined;
      readonly engine: number | undefined;
    }
  /** Without a key: one made of the body, so that the same content has the same key. */
  | { readonly call: "accept"; readonly key: number | undefined; readonly body: PeopleFact }
  | { readonly call: "open"; readonly epoch: Place; readonly item: number; readonly tool: boolean }
  | {
      readonly call: "commit";
      readonly epoch: Place;
      readonly item: number;
      /** In the epoch that holds a lane, if one is open. */
      readonly held: boolean;
      readonly replaces: boolean;
      readonly settles: boolean;
    }
  | {
      readonly call: "append";
      readonly off: number;
      readonly behind: number;
      readonly bodies: readonly Body[];
    };

interface Place {
  readonly lane: number;
  readonly off: number;
  readonly generation: number;
  readonly attempt: number;
}

type Body =
  | "run_started"
  | "run_finished"
  | "turn_finished"
  | "opaque"
  | { readonly asked: number }
  | { readonly item: number; readonly input: number | undefined; readonly replaces: boolean };

const run = runId("run_1");
const turn = turnId("turn_1");
const inTurn = { runId: run, turnId: turn };
/** Mostly 0, so that most calls are stored. */
const off = fc.constantFrom(0, 0, 0, 0, 0, 0, -1, 1);
const few = fc.nat(3);
/** The runs of engines that claim. */
export const engines: readonly string[] = [0, 1, 2, 3].map((at) => `engine_${at}`);
const place = fc.record({
  lane: fc.constantFrom(0, 0, 1, 2),
  off,
  generation: fc.integer({ min: 1, max: 3 }),
  attempt: fc.integer({ min: 1, max: 2 }),
});

const people: fc.Arbitrary<PeopleFact> = fc.oneof(
  fc
    .tuple(few, fc.constantFrom("prompt", "steer", "abort"))
    .map(([id, kind]) => inputFact(id, kind)),
  few.map((id) => ({
    type: "queue_updated" as const,
    inputId: inputId(`input_${id}`),
    change: "taken_back" as const,
  })),
  fc.tuple(fc.nat(2), fc.constantFrom("allow" as const, "deny" as const)).map(([id, decision]) => ({
    type: "approval_resolved" as const,
    approvalId: approvalId(`approval_${id}`),
    callId: callId("call_1"),
    decision,
  })),
);

const body: fc.Arbitrary<Body> = fc.oneof(
  fc.constantFrom(
    "run_started" as const,
    "run_finished" as const,
    "turn_finished" as const,
    "opaque" as const,
  ),
  fc.nat(2).map((asked) => ({ asked })),
  fc.record({
    item: few,
    input: fc.option(few, { nil: undefined }),
    replaces: fc.boolean(),
  }),
);

/** Calls with few ids, so that they conflict often. */
export const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      call: fc.constant("claim" as const),
      off,
      back: back(),
      engine: fc.option(few, { nil: undefined }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ call: fc.constant("accept" as const), key: key(), body: people }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      call: fc.constant("open" as const),
      epoch: place,
      item: few,
      tool: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      call: fc.constant("commit" as const),
      epoch: place,
      item: few,
      held: fc.constantFrom(true, true, false),
      replaces: fc.constantFrom(false, false, true),
      settles: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      call: fc.constant("append" as const),
      off,
      behind: fc.constantFrom(0, 0, 0, 0, 1),
      bodies: fc.array(body, { maxLength: 3 }),
    }),
  },
);

/** What the numbers of an operation are relative to. */
export interface Progress {
  readonly head: number;
  readonly incarnation: number;
  readonly floors: readonly Floor[];
}

/** Reads the progress of a session from its store. */
export async function progressOf(store: SessionStore, name: SessionId): Promise<Progress> {
  const record = await store.find(name);
  if (record === undefined) throw new Error(`there is no session ${name}`);
  return { ...record, floors: await store.floors(record.uid) };
}

/** Makes the call, of a session that was last seen to be at `record`. */
export async function perform(
  store: SessionStore,
  uid: SessionUid,
  record: Progress,
  made: Operation,
): Promise<{ readonly outcome: string }> {
  const { head, incarnation } = record;
  switch (made.call) {
    case "claim": {
      const to = made.back === undefined ? undefined : Math.max(0, head - made.back);
      const by = made.engine === undefined ? undefined : engines[made.engine];
      return store.claim(uid, { from: Math.max(0, incarnation + made.off), to, by });
    }
    case "accept":
      return store.accept(uid, `key_${made.key ?? JSON.stringify(made.body)}`, made.body);
    case "open": {
      const { lane } = made.epoch;
      const epoch = epochOf(made.epoch, incarnation);
      const id = itemId(`item_${made.item}`);
      const call = { callId: callId("call_1"), tool: "search", input: {}, itemId: id };
      const intent = { type: "tool_execution_started", ...inTurn, ...call, lane, epoch } as const;
      return store.open(uid, { lane, epoch, itemId: id, ...(made.tool ? { intent } : {}) });
    }
    case "commit": {
      const floor = made.held ? record.floors[made.item % record.floors.length] : undefined;
      const lane = floor?.lane ?? made.epoch.lane;
      const epoch = floor?.epoch ?? epochOf(made.epoch, incarnation);
      const type = made.replaces ? "item_replaced" : "item_committed";
      const usage = { inputTokens: 1, outputTokens: 2, cachedTokens: 0 };
      const settlement = [{ type: "usage_reported", runId: run, epoch, usage }] as const;
      return store.commit(uid, {
        fact: { type, item: itemOf(made.item, `${epoch}`), lane, epoch, ...inTurn },
        ...(made.settles ? { settlement } : {}),
      });
    }
    case "append":
      return store.append(uid, {
        incarnation: Math.max(0, incarnation + made.off),
        head: Math.max(0, head - made.behind),
        bodies: made.bodies.map((own) => bodyOf(own, incarnation)),
      });
    default:
      made satisfies never;
      throw new Error("an unknown call");
  }
}

function key(): fc.Arbitrary<number | undefined> {
  return fc.option(fc.nat(7), { nil: undefined, freq: 1 });
}

function back(): fc.Arbitrary<number | undefined> {
  return fc.option(fc.nat(6), { nil: undefined, freq: 2 });
}

function epochOf({ off, generation, attempt }: Place, incarnation: number): Epoch {
  return packEpoch({ incarnation: Math.max(0, incarnation + off), generation, attempt });
}

function itemOf(id: number, text: string): Item {
  const parts = [{ kind: "text", id: partId("part_1"), text }] as const;
  return { id: itemId(`item_${id}`), author: "model", parts, stop: "end" };
}

function inputFact(id: number, kind: string): PeopleFact {
  const parts = [{ kind: "text", id: partId("part_1"), text: `input ${id}` }] as const;
  const input =
    kind === "abort"
      ? ({ kind: "abort" } as const)
      : ({ kind: kind === "steer" ? "steer" : "prompt", parts } as const);
  return { type: "input_accepted", inputId: inputId(`input_${id}`), input };
}

function bodyOf(own: Body, incarnation: number): FactBody {
  const closes = packEpoch({ incarnation, generation: 2, attempt: 1 });
  if (own === "run_started") return { type: own, runId: run };
  if (own === "run_finished") return { type: own, runId: run, outcome: "completed", closes };
  if (own === "turn_finished") return { type: own, ...inTurn, stop: "end", closes };
  if (own === "opaque") return { type: own, original: { type: "from_tomorrow" } };
  if ("asked" in own) {
    return {
      type: "approval_requested",
      ...inTurn,
      approvalId: approvalId(`approval_${own.asked}`),
      callId: callId("call_1"),
      tool: "delete",
      input: {},
      hash: "sha256:0",
    };
  }
  const input = own.input === undefined ? {} : { inputId: inputId(`input_${own.input}`) };
  const type = own.replaces ? "item_replaced" : "item_committed";
  return { type, item: itemOf(own.item, "by the driver"), ...input };
}

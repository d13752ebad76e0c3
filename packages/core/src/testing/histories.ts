import type { Delta } from "../delta/delta.ts";
import { commitDraft } from "../delta/commit.ts";
import { emptyDraft } from "../delta/empty-draft.ts";
import type { Draft } from "../delta/draft.ts";
import { fold } from "../delta/fold.ts";
import { restate } from "../delta/restate.ts";
import type { Batch } from "../event/batch.ts";
import { packEpoch } from "../event/epoch.ts";
import { schemaVersion } from "../event/event.ts";
import type { Fact, FactBody, LiveEvent } from "../event/event.ts";
import {
  approvalId,
  callId,
  inputId,
  itemId,
  partId,
  runId,
  sessionId,
  sessionUid,
  turnId,
} from "../ids.ts";
import { legalDelta } from "./delta-programs.ts";

export const uid = sessionUid("session_1");
export const session = sessionId("s");
const run = runId("run_1");
const turn = turnId("turn_1");
const laneCount = 8;

/** What a lane's writer has written, kept apart from everything that is being tested. */
export interface Writer {
  readonly lane: number;
  readonly epoch: number;
  readonly attempt: number;
  readonly generation: number;
  readonly item: string;
  readonly head: number;
  readonly deltas: Delta[];
  draft: Draft;
  seq: number;
}

/**
 * One life of a session as its engines would give it: facts in their order, up to eight lanes that
 * write at once, retries, replacements, claims. Made from a list of numbers, as delta programs are.
 */
export class History {
  readonly messages: (Fact | Batch)[] = [];
  /** Lanes that are open at the end. */
  readonly writers = new Map<number, Writer>();
  #head = 0;
  #incarnation = 0;
  #generation = 0;
  #time = 0;
  #inputs: string[] = [];

  constructor(numbers: readonly number[]) {
    this.#fact({ type: "session_claimed", incarnation: (this.#incarnation += 1) });
    this.#fact({ type: "run_started", runId: run });
    this.#fact({ type: "turn_started", runId: run, turnId: turn });
    for (const number of numbers) this.#act(number);
  }

  #act(number: number): void {
    const lane = (number >> 5) % laneCount;
    const writer = this.writers.get(lane);
    switch (number % 20) {
      case 0:
      case 1:
        return this.#open(lane);
      case 2:
        return writer && this.#commit(writer, "item_committed");
      case 3:
        return writer && this.#commit(writer, "item_replaced");
      case 4:
        return writer && this.#retry(writer);
      case 5:
        return writer && this.#reseed(writer);
      case 6:
        return writer && this.#write(writer, [aside(writer, number)]);
      case 7:
        return this.#people(number);
      case 8:
        return this.#boundary(number);
      default:
        return writer ? this.#stream(writer, number) : this.#open(lane);
    }
  }

  #stream(writer: Writer, number: number): void {
    const events: LiveEvent[] = [];
    for (let count = 0; count <= number % 3; count += 1) {
      const delta = legalDelta(writer.draft, (number >> 4) + count * 7919);
      writer.draft = fold(writer.draft, delta);
      writer.deltas.push(delta);
      events.push({ type: "content_delta", delta });
    }
    this.#write(writer, events);
  }

  #open(lane: number): void {
    if (this.writers.has(lane)) return;
    const generation = (this.#generation += 1);
    this.#start({ lane, generation, attempt: 1, item: `item_${generation}` });
  }

  #retry({ lane, generation, attempt, item }: Writer): void {
    this.#start({ lane, generation, attempt: attempt + 1, item });
  }

  #start(at: { lane: number; generation: number; attempt: number; item: string }): void {
    const epoch = packEpoch({ ...at, incarnation: this.#incarnation });
    const writer: Writer = {
      ...at,
      epoch,
      head: this.#head,
      deltas: [],
      draft: emptyDraft(),
      seq: -1,
    };
    this.writers.set(at.lane, writer);
    this.#write(writer, [opening(writer)]);
  }

  #reseed(writer: Writer): void {
    const deltas = restate(writer.draft).map((delta): LiveEvent => ({
      type: "content_delta",
      delta,
    }));
    writer.seq += 1;
    this.#send(writer, 0, [opening(writer), ...deltas]);
  }

  #write(writer: Writer, events: readonly LiveEvent[]): void {
    const first = writer.seq + 1;
    writer.seq += events.length;
    this.#send(writer, first, events);
  }

  #send(writer: Writer, first: number, events: readonly LiveEvent[]): void {
    const { lane, epoch, head, seq: last, item } = writer;
    const ids = { sessionId: session, runId: run, turnId: turn, itemId: itemId(item) };
    const time = (this.#time += 1);
    this.messages.push({ v: schemaVersion, ...ids, lane, epoch, first, last, head, time, events });
  }

  #commit(writer: Writer, type: "item_committed" | "item_replaced"): void {
    const { lane, epoch, draft, item: id } = writer;
    const head = { id: itemId(id), author: lane === 0 ? "model" : "tool" } as const;
    const item = commitDraft(type === "item_committed" ? draft : replacement(), head, {
      stop: "end",
    });
    this.#fact({ type, item, lane, epoch, runId: run, turnId: turn });
    this.writers.delete(lane);
  }

  /** What closes many lanes at once. Rare, so that lanes have a life before it. */
  #boundary(number: number): void {
    if ((number >> 9) % 4 !== 0) return;
    const closes = packEpoch({
      incarnation: this.#incarnation,
      generation: this.#generation,
      attempt: 4_095,
    });
    if ((number >> 11) % 3 === 0) {
      this.#incarnation += 1;
      this.#fact({ type: "session_claimed", incarnation: this.#incarnation });
    } else {
      this.#fact({ type: "turn_finished", runId: run, turnId: turn, stop: "tools", closes });
      this.#fact({ type: "turn_started", runId: run, turnId: turn });
    }
    this.writers.clear();
  }

  #people(number: number): void {
    const id = `input_${this.#inputs.length}`;
    const [first] = this.#inputs;
    const call = callId(`c${number % 4}`);
    const asked = approvalId(`approval_${number % 3}`);
    switch ((number >> 8) % 6) {
      case 0:
        return this.#fact({
          type: "approval_requested",
          runId: run,
          turnId: turn,
          approvalId: asked,
          callId: call,
          tool: "search",
          input: {},
          hash: "h",
        });
      case 1:
        return this.#fact({
          type: "approval_resolved",
          approvalId: asked,
          callId: call,
          decision: "deny",
          reason: "no",
        });
      case 2:
        return this.#fact({
          type: "usage_reported",
          runId: run,
          epoch: 1,
          usage: { inputTokens: 3, outputTokens: 2, cachedTokens: 1 },
        });
      case 3:
        if (first === undefined) return undefined;
        this.#inputs = this.#inputs.slice(1);
        return this.#fact({ type: "queue_updated", inputId: inputId(first), change: "taken_back" });
      default:
        this.#inputs = [...this.#inputs, id];
        return this.#fact({
          type: "input_accepted",
          inputId: inputId(id),
          input: { kind: "steer", parts: [] },
        });
    }
  }

  #fact(body: FactBody): void {
    this.#head += 1;
    this.#time += 1;
    this.messages.push({
      ...body,
      v: schemaVersion,
      n: this.#head,
      sessionId: session,
      time: this.#time,
    });
  }
}

function opening({ lane }: Writer): LiveEvent {
  if (lane === 0) return { type: "attempt_started", author: "model", model: "m" };
  return { type: "attempt_started", author: "tool", callId: callId(`c${lane}`), tool: "search" };
}

function aside({ lane }: Writer, number: number): LiveEvent {
  if (lane > 0 && number % 2 === 0) {
    return { type: "tool_execution_update", callId: callId(`c${lane}`), message: `${number % 5}` };
  }
  const cause = { code: "overloaded", message: "busy" };
  const live: readonly LiveEvent[] = [
    { type: "lane_idled" },
    { type: "stalled", silentMs: number % 9 },
    { type: "retry_scheduled", cause, delayMs: 5 },
  ];
  return live[(number >> 8) % live.length] as LiveEvent;
}

function replacement(): Draft {
  const id = partId("p1");
  return fold(emptyDraft(), {
    op: "commit_part",
    partId: id,
    part: { kind: "text", id, text: "other" },
  });
}

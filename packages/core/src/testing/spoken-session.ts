import type { Part } from "../content/part.ts";
import type { BeginPart, CommitPart, Delta } from "../delta/delta.ts";
import { emptyDraft } from "../delta/empty-draft.ts";
import type { Draft } from "../delta/draft.ts";
import { commitDraft, commitOf } from "../delta/commit.ts";
import { fold } from "../delta/fold.ts";
import type { Batch } from "../event/batch.ts";
import { packEpoch } from "../event/epoch.ts";
import { schemaVersion } from "../event/event.ts";
import type { Fact, FactBody, LiveEvent } from "../event/event.ts";
import { callId, inputId, itemId, numberedPart, partId, runId, sessionId, turnId } from "../ids.ts";

const key = "q1-0b6d2f84c97e4a15";
const session = sessionId("refunds");
const ids = { runId: runId(`run_${key}`), turnId: turnId(`turn_${key}_1`) };

/** A call of a spoken session, with what came of it. */
export interface SpokenCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, string>>;
  readonly output: string;
  /** Whether the tool writes its output piece by piece. Else it comes with the commit. */
  readonly streams: boolean;
}

/**
 * A run as an engine gives it, with ids and times of the usual lengths: one reply of text and calls in
 * deltas of `piece` characters, `together` of them in a batch, and then the results of the calls. What the
 * engine writes at once has one time: facts of one transaction, a call's intent with the beginning of its
 * lane, and its result with the end.
 */
export class SpokenSession {
  readonly messages: (Fact | Batch)[] = [];
  readonly #piece: number;
  readonly #together: number;
  #head = 0;
  #time = 1_794_861_214_881;

  constructor(text: string, calls: readonly SpokenCall[], piece: number, together: number) {
    this.#piece = piece;
    this.#together = together;
    const parts = [{ id: partId("p1"), kind: "text" as const, text: "Please do." }];
    const accepted = inputId(`input_${key}`);
    this.#fact({
      type: "input_accepted",
      inputId: accepted,
      input: { kind: "prompt", parts },
    });
    this.#fact({ type: "session_claimed", incarnation: 1 });
    this.#fact({ type: "run_started", runId: ids.runId });
    this.#fact({ type: "turn_started", ...ids }, true);
    const model = { lane: 0, author: "model" as const };
    const openings: [BeginPart, string][] = text === "" ? [] : [[this.#begin(0, 1, "text"), text]];
    for (const [at, { tool, input }] of calls.entries()) {
      const begin = { partId: numberedPart(item(0), openings.length + 1), tool };
      const id = callId(`call_${at}_Xh3kPq9vT2mW8sR4cYzL`);
      const opening = { op: "begin_part", kind: "tool_call", callId: id, ...begin } as const;
      openings.push([opening, JSON.stringify(input)]);
    }
    this.#item(model, openings);
    for (const [at, { tool, input, output, streams }] of calls.entries()) {
      const lane = at + 1;
      const id = callId(`call_${at}_Xh3kPq9vT2mW8sR4cYzL`);
      const started = { callId: id, tool, input, itemId: item(lane), lane, epoch: epochOf(lane) };
      this.#fact({ type: "tool_execution_started", ...ids, ...started });
      const opening = {
        op: "begin_part",
        partId: numberedPart(item(lane), 1),
        kind: "tool_result",
        callId: id,
        tool,
      } as const;
      this.#item({ lane, author: "tool", callId: id, tool }, [[opening, output]], streams);
      this.#fact({ type: "tool_execution_finished", ...ids, callId: id, tool, status: "ok" }, true);
    }
    const closes = epochOf(calls.length + 1);
    this.#fact({ type: "turn_finished", ...ids, stop: "end", closes });
    this.#fact({ type: "run_finished", runId: ids.runId, closes, outcome: "completed" }, true);
  }

  #begin(lane: number, number: number, kind: "text"): BeginPart {
    return { op: "begin_part", partId: numberedPart(item(lane), number), kind };
  }

  /** One item in its lane: each part begun, streamed and committed. */
  #item(
    opening: Omit<Extract<LiveEvent, { type: "attempt_started" }>, "type"> & {
      readonly lane: number;
    },
    parts: readonly (readonly [BeginPart, string])[],
    streams = true,
  ): void {
    const { lane, ...opened } = opening;
    const epoch = epochOf(lane);
    let draft: Draft = emptyDraft();
    let seq = 0;
    const send = (events: readonly LiveEvent[], first: number): void => {
      const place = { ...ids, itemId: item(lane), lane, epoch, first, last: seq };
      const head = this.#head;
      const time = this.#time;
      this.messages.push({ v: schemaVersion, sessionId: session, ...place, head, time, events });
    };
    if (opened.author === "model") this.#time += 1;
    send([{ type: "attempt_started", ...opened }], 0);
    let waiting: LiveEvent[] = [];
    const put = (delta: Delta): void => {
      draft = fold(draft, delta);
      waiting.push({ type: "content_delta", delta });
      if (waiting.length < this.#together && delta.op === "append_text") return;
      const first = seq + 1;
      seq += waiting.length;
      // A tool's part is begun with its lane; what comes of it takes time.
      if (opened.author === "model" || delta.op !== "begin_part") this.#time += 20;
      send(waiting, first);
      waiting = [];
    };
    for (const [begin, text] of parts) {
      put(begin);
      const streamed = streams ? text : "";
      for (let at = 0; at < streamed.length; at += this.#piece) {
        const chunk = streamed.slice(at, at + this.#piece);
        put({ op: "append_text", partId: begin.partId, chunk });
      }
      const commit = commitOf(draft, begin.partId) as CommitPart;
      put(streams ? commit : { ...commit, part: { ...commit.part, text } as Part });
    }
    const head = { id: item(lane), author: opened.author };
    const stored = commitDraft(draft, head, { stop: "end" });
    const isWithLast = opened.author === "tool";
    this.#fact({ type: "item_committed", ...ids, item: stored, lane, epoch }, isWithLast);
  }

  /** `isWithLast`: it is written at once with the message before it. */
  #fact(body: FactBody, isWithLast = false): void {
    this.#head += 1;
    if (!isWithLast) this.#time += 1;
    const envelope = { v: schemaVersion, n: this.#head, sessionId: session, time: this.#time };
    this.messages.push({ ...body, ...envelope } as Fact);
  }
}

function item(lane: number): ReturnType<typeof itemId> {
  return itemId(`item_${key}_1_${lane}`);
}

function epochOf(lane: number): number {
  return packEpoch({ incarnation: 1, generation: lane + 1, attempt: 0 });
}

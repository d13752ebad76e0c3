import { emptyDraft, fold } from "@millrace/core";
import {
  callId,
  commitDraft,
  commitOf,
  inputId,
  itemId,
  partId,
  runId,
  sessionId,
  turnId,
} from "@millrace/core/writing";
import { packEpoch } from "@millrace/core/ports";
import type { Batch } from "@millrace/core/ports";
import { schemaVersion } from "@millrace/core/wire";
import type { CallId, Delta, Draft, Fact, LiveEvent, RunEvent } from "@millrace/core";
import type { LiveEnvelope } from "@millrace/core/reading";
import type { FactBody, PartKind } from "@millrace/core/writing";

interface Writer {
  readonly lane: number;
  readonly generation: number;
  readonly attempt: number;
  readonly epoch: number;
  readonly item: string;
  draft: Draft;
  seq: number;
}

/**
 * A random session made from a list of numbers, each of which is one choice: runs, turns, up to four
 * lanes at once, retries, replacements, claims, events of fenced writers. It exists in two forms: as
 * events for observers, and as facts and batches of one event each, as in a log.
 */
export class History {
  readonly events: RunEvent[] = [];
  readonly messages: (Fact | Batch)[] = [];
  readonly #session: string;
  /** Whether writers publish after their lane was closed. */
  readonly #zombies: boolean;
  readonly #writers = new Map<number, Writer>();
  #old: Writer | undefined;
  #head = 0;
  #incarnation = 1;
  #generation = 0;
  #runs = 0;
  #turns = 0;
  #inputs = 0;
  #time = 1_000;

  constructor(session: string, numbers: readonly number[], zombies = true) {
    this.#session = session;
    this.#zombies = zombies;
    this.#fact({ type: "session_claimed", incarnation: 1 });
    this.#begin();
    for (const number of numbers) this.#act(number);
  }

  #act(number: number): void {
    const lane = (number >> 5) % 4;
    const writer = this.#writers.get(lane);
    switch (number % 20) {
      case 0:
      case 1:
        return writer ? undefined : this.#open(lane);
      case 2:
        return writer && this.#commit(writer, "item_committed");
      case 3:
        return writer && this.#commit(writer, "item_replaced");
      case 4:
        return writer && this.#start({ ...writer, attempt: writer.attempt + 1 });
      case 5:
        return writer && this.#publish(writer, aside(lane, number));
      case 6:
        return this.#old && this.#zombies
          ? this.#publish(this.#old, { type: "stalled", silentMs: 1 })
          : undefined;
      case 7:
        return this.#people(number);
      case 8:
        return this.#boundary(number);
      default:
        return writer ? this.#stream(writer, number >> 4) : this.#open(lane);
    }
  }

  #begin(): void {
    this.#fact({ type: "run_started", runId: runId(`run_${(this.#runs += 1)}`) });
    this.#turn();
  }

  #turn(): void {
    this.#turns += 1;
    this.#fact({ type: "turn_started", runId: this.#run(), turnId: this.#turnId() });
  }

  #run(): ReturnType<typeof runId> {
    return runId(`run_${this.#runs}`);
  }

  #turnId(): ReturnType<typeof turnId> {
    return turnId(`turn_${this.#turns}`);
  }

  #open(lane: number): void {
    const generation = (this.#generation += 1);
    this.#start({ lane, generation, attempt: 1, item: `item_${generation}` });
  }

  #start(at: Pick<Writer, "lane" | "generation" | "attempt" | "item">): void {
    const { lane, generation, attempt, item } = at;
    const epoch = packEpoch({ incarnation: this.#incarnation, generation, attempt });
    const place = { lane, generation, attempt, item, epoch };
    const writer: Writer = { ...place, draft: emptyDraft(), seq: -1 };
    this.#old = this.#writers.get(at.lane) ?? this.#old;
    this.#writers.set(at.lane, writer);
    this.#publish(writer, opening(at.lane));
  }

  /** One delta, and mostly some more that fill the same part. */
  #stream(writer: Writer, number: number): void {
    for (let count = 0; count <= number % 6; count += 1) {
      const choice = count === 0 ? number : (number >> 3) * 8 + 3 + (count % 5);
      const delta = legalDelta(writer.draft, choice);
      writer.draft = fold(writer.draft, delta);
      this.#publish(writer, { type: "content_delta", delta });
    }
  }

  #publish(writer: Writer, event: LiveEvent): void {
    const { lane, epoch, item } = writer;
    writer.seq += 1;
    const place: LiveEnvelope = {
      sessionId: sessionId(this.#session),
      runId: this.#run(),
      turnId: this.#turnId(),
      itemId: itemId(item),
      lane,
      epoch,
      time: (this.#time += 1),
    };
    this.events.push({ ...event, ...place });
    const seq = { first: writer.seq, last: writer.seq, head: this.#head };
    this.messages.push({ v: schemaVersion, ...place, ...seq, events: [event] });
  }

  #commit(writer: Writer, type: "item_committed" | "item_replaced"): void {
    const { lane, epoch, item: id } = writer;
    const draft = type === "item_committed" ? writer.draft : other();
    const head = { id: itemId(id), author: lane === 0 ? "model" : "tool" } as const;
    const item = commitDraft(draft, head, { stop: "end" });
    this.#fact({ type, item, lane, epoch, runId: this.#run(), turnId: this.#turnId() });
    this.#old = writer;
    this.#writers.delete(lane);
  }

  #boundary(number: number): void {
    const { incarnation, generation } = {
      incarnation: this.#incarnation,
      generation: this.#generation,
    };
    const closes = packEpoch({ incarnation, generation, attempt: 4_095 });
    const ids = { runId: this.#run(), turnId: this.#turnId() };
    this.#old = this.#writers.values().next().value ?? this.#old;
    this.#writers.clear();
    switch ((number >> 9) % 4) {
      case 0:
        this.#incarnation += 1;
        return this.#fact({ type: "session_claimed", incarnation: this.#incarnation });
      case 1:
        this.#fact({ type: "turn_finished", ...ids, stop: "end", closes });
        this.#fact({ type: "run_finished", runId: ids.runId, outcome: "completed", closes });
        return this.#begin();
      default:
        this.#fact({ type: "turn_finished", ...ids, stop: "tools", closes });
        return this.#turn();
    }
  }

  #people(number: number): void {
    const call = callId(`c${number % 3}`);
    const ids = { runId: this.#run(), turnId: this.#turnId() };
    const id = inputId(`input_${this.#inputs}`);
    switch ((number >> 8) % 5) {
      case 0:
        this.#inputs += 1;
        return this.#fact({
          type: "input_accepted",
          inputId: inputId(`input_${this.#inputs}`),
          input: { kind: "steer", parts: [] },
        });
      case 1:
        return this.#fact({ type: "queue_updated", inputId: id, change: "taken_back" });
      case 2:
        return this.#finishTool(call, number % 2 === 0 ? "ok" : "failed");
      case 3:
        return this.#fact({
          type: "usage_reported",
          runId: ids.runId,
          epoch: 1,
          usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0 },
        });
      default:
        return this.#fact({ type: "compaction_started", runId: ids.runId });
    }
  }

  /** A result and the end of its execution, one right after the other, as a driver stores them. */
  #finishTool(call: CallId, status: "ok" | "failed"): void {
    const ids = { runId: this.#run(), turnId: this.#turnId() };
    const generation = (this.#generation += 1);
    const epoch = packEpoch({ incarnation: this.#incarnation, generation, attempt: 1 });
    const part = { kind: "tool_result", id: partId("p0"), callId: call, tool: "search" } as const;
    const parts = [{ ...part, status, text: `${generation}` }];
    const item = { id: itemId(`item_${generation}`), author: "tool", parts, stop: "end" } as const;
    this.#fact({ type: "item_committed", item, lane: 4, epoch, ...ids });
    this.#fact({ type: "tool_execution_finished", ...ids, callId: call, tool: "search", status });
  }

  #fact(body: FactBody): void {
    const envelope = {
      v: schemaVersion,
      n: (this.#head += 1),
      sessionId: sessionId(this.#session),
      time: (this.#time += 1),
    } as const;
    this.events.push({ ...body, ...envelope });
    this.messages.push({ ...body, ...envelope });
  }
}

/** Several lives at once, their events in one row by the numbers given. */
export function interleaved(
  lives: readonly History[],
  numbers: readonly number[],
): readonly RunEvent[] {
  const left = lives.map((life) => life.events.slice());
  const row: RunEvent[] = [];
  for (let at = 0; left.some((events) => events.length > 0); at += 1) {
    const choice = (numbers[at % Math.max(1, numbers.length)] ?? at) + at;
    const next =
      left[choice % left.length]?.shift() ?? left.find((events) => events.length > 0)?.shift();
    if (next !== undefined) row.push(next);
  }
  return row;
}

function opening(lane: number): LiveEvent {
  if (lane === 0) return { type: "attempt_started", author: "model", model: "scripted/m" };
  return { type: "attempt_started", author: "tool", callId: callId(`c${lane}`), tool: "search" };
}

function aside(lane: number, number: number): LiveEvent {
  if (lane > 0) {
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

function other(): Draft {
  const id = partId("p0");
  const part = { kind: "text", id, text: "other" } as const;
  return fold(emptyDraft(), { op: "commit_part", partId: id, part });
}

const kinds: readonly PartKind[] = [
  "text",
  "reasoning",
  "tool_call",
  "tool_result",
  "structured",
  "media",
];
const chunks: readonly string[] = [
  "a",
  "",
  "The ",
  "é",
  "😀",
  '{"a":',
  "1}",
  "\n\n",
  "}{",
  "x".repeat(40),
];

/** One legal delta for this draft, chosen by a number. */
function legalDelta(draft: Draft, number: number): Delta {
  const open = draft.parts.filter((part) => part.state === "open");
  const target = open[(number >> 4) % Math.max(1, open.length)];
  const id = target?.id ?? partId(`p${draft.parts.length}`);
  if (target === undefined || number % 8 === 0) {
    const fresh = partId(`p${draft.parts.length}`);
    return number % 3 === 0 ? whole(fresh, number) : begin(fresh, number);
  }
  if (number % 8 === 1) return commitOf(draft, id) as Delta; // it is open
  if (number % 8 === 2) return { op: "set_metadata", partId: id, metadata: { seen: number % 5 } };
  if (target.begin.kind === "structured") {
    return { op: "replace_structured", partId: id, value: { a: [number % 3] } };
  }
  if (target.begin.kind === "media") {
    return { op: "append_bytes", partId: id, chunk: Uint8Array.of(number & 255) };
  }
  return { op: "append_text", partId: id, chunk: chunks[(number >> 8) % chunks.length] ?? "" };
}

function begin(id: ReturnType<typeof partId>, number: number): Delta {
  const kind = kinds[(number >> 5) % kinds.length] as PartKind;
  const base = { op: "begin_part", partId: id } as const;
  if (kind === "tool_call" || kind === "tool_result") {
    return { ...base, kind, callId: callId(`c${number % 4}`), tool: "search" };
  }
  if (kind === "media") return { ...base, kind, mediaType: "image/png" };
  return { ...base, kind: kind as "text" | "reasoning" | "structured" }; // the other kinds are above
}

/** A part that comes whole, without having been begun. */
function whole(id: ReturnType<typeof partId>, number: number): Delta {
  const part = { kind: "text", id, text: chunks[number % chunks.length] ?? "" } as const;
  return { op: "commit_part", partId: id, part };
}

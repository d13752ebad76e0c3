import { abortedCause, commitOf, wholeText } from "@millrace/core/model";
import type { EndedReply } from "@millrace/core/model";
import type { Remark } from "@millrace/core/ports";
import { equalJson, isJsonObject, isWellFormed, parseJson } from "@millrace/core/json";
import type { Cause, Delta, Draft, Json, Part, PartId } from "@millrace/core";
import type { AppendText, Ending } from "@millrace/core/writing";
import type { ClosePart, Operation, Protocol, ReplyContext, StreamEnd } from "./protocol.ts";
import { failure } from "./failure.ts";

/** Receives deltas and holds the folded draft. `ReplyWriter` of core implements it. */
export interface DeltaSink {
  readonly emit: (delta: Delta) => void;
  readonly draft: () => Draft;
}

/** The ending of a reply, with its usage and what came with the vendor's answer. */
export type ReplyEnd = EndedReply;

/** The reading half of a protocol. */
export type Reading<Event, State> = Pick<
  Protocol<Event, State>,
  "initial" | "step" | "halt" | "whole"
>;

/** The state of the reading after an event. */
export type Progress = "moved" | "alive" | "unknown" | "settled" | "over";

/**
 * Reads one reply: passes events to a protocol and turns its operations into deltas. The only
 * place, for all protocols, that makes vendors' text well-formed and commits parts.
 */
export class ReplyReader<Event, State> {
  readonly #protocol: Reading<Event, State>;
  readonly #sink: DeltaSink;
  readonly #remark: ((remark: Remark) => void) | undefined;
  #state: State;
  #failure: Cause | undefined;
  #started = false;
  /** A high surrogate at the end of a part's text, until the next chunk completes it. */
  readonly #halves = new Map<PartId, string>();
  /** Parts with a lone surrogate that was replaced. */
  readonly #mended = new Set<PartId>();

  /** `remark` is called for what was left out of the reply. It must not throw. */
  constructor(
    protocol: Reading<Event, State>,
    context: ReplyContext,
    sink: DeltaSink,
    remark?: (remark: Remark) => void,
  ) {
    this.#protocol = protocol;
    this.#sink = sink;
    this.#remark = remark;
    this.#state = protocol.initial(context);
  }

  /** True after the first delta: from then on a second try would be visible. */
  get started(): boolean {
    return this.#started;
  }

  /** True if the protocol reads a reply that came whole. */
  get readsWhole(): boolean {
    return this.#protocol.whole !== undefined;
  }

  /** The events of a whole reply, or undefined if the text is none. */
  eventsOf(text: string): readonly Event[] | undefined {
    const parsed = parseJson(text);
    if (!parsed.ok || !isJsonObject(parsed.value)) return undefined;
    return this.#protocol.whole?.(parsed.value);
  }

  /** Reads one event. Ignores every event after `over`. */
  take(event: Event): Progress {
    const { state, operations, sign, failure: reported } = this.#protocol.step(this.#state, event);
    this.#state = state;
    this.#perform(operations);
    this.#failure ??= reported;
    if (this.#failure !== undefined) return "over";
    return sign ?? "moved";
  }

  /** Ends the reply and returns its ending. */
  end(end: StreamEnd): ReplyEnd {
    const known = this.#failure === undefined ? end : failed(this.#failure);
    const {
      operations,
      ending,
      usage,
      namelessCalls = 0,
    } = this.#protocol.halt(this.#state, known);
    this.#perform(operations);
    // A commit that failed just now leaves no evidence either.
    if (this.#failure !== undefined && known === end) {
      return { ...cutEnding(failed(this.#failure)), usage };
    }
    if (namelessCalls === 0 || ending.cause !== undefined) return { ...ending, usage };
    this.#remark?.(namelessCall(namelessCalls));
    return { ...ending, evidence: withNameless(ending.evidence, namelessCalls), usage };
  }

  #perform(operations: readonly Operation[]): void {
    for (const operation of operations) {
      if (this.#failure !== undefined) return;
      if (operation.op === "append_text") this.#append(operation);
      else if (operation.op === "close_part") this.#close(operation);
      else this.#emit(operation);
    }
  }

  #emit(delta: Delta): void {
    this.#started = true;
    this.#sink.emit(delta);
  }

  #append(delta: AppendText): void {
    const { partId, chunk } = delta;
    const half = this.#halves.size === 0 ? undefined : this.#halves.get(partId);
    // Nearly every chunk is well-formed.
    if (half === undefined && isWellFormed(chunk)) {
      if (chunk !== "") this.#emit(delta);
      return;
    }
    this.#halves.delete(partId);
    const whole = wholeText(half ?? "", chunk);
    if (whole.held !== "") this.#halves.set(partId, whole.held);
    if (whole.text === "") return;
    if (!isWellFormed(whole.text)) this.#mended.add(partId);
    this.#emit({ op: "append_text", partId, chunk: whole.text.toWellFormed() });
  }

  #close(close: ClosePart): void {
    const { partId, whole } = close;
    if (whole !== undefined) this.#complete(partId, whole);
    if (this.#halves.delete(partId)) {
      this.#mended.add(partId);
      this.#emit({ op: "append_text", partId, chunk: "\uFFFD" });
    }
    if (this.#failure !== undefined) return;
    const commit = commitOf(this.#sink.draft(), partId);
    if (commit?.op !== "commit_part") return; // never begun, or already over
    this.#emit({ ...commit, part: closedPart(commit.part, close, this.#mended.has(partId)) });
  }

  /** Appends the rest of the vendor's full text that was not streamed. */
  #complete(partId: PartId, whole: string): void {
    const open = this.#sink.draft().parts.find(({ id }) => id === partId);
    if (open?.state !== "open") return;
    const streamed = open.settled + open.tail + (this.#halves.get(partId) ?? "");
    // A replaced surrogate makes the streamed text differ from the vendor's.
    if (whole === streamed || (this.#mended.has(partId) && whole.toWellFormed() === streamed))
      return;
    const rest = restOf(streamed, whole);
    if (rest !== undefined) {
      this.#append({ op: "append_text", partId, chunk: rest });
      return;
    }
    // Reasoning is shown and never acted on, and its opaque data has the vendor's own text.
    if (open.begin.kind === "reasoning") return;
    if (open.begin.kind === "tool_call" && isSameJson(streamed, whole)) return;
    const evidence = { partId, streamed: streamed.length, whole: whole.length };
    const message = "the vendor's full text is not the one that it streamed";
    this.#failure = failure("contradiction", message, evidence);
  }
}

/**
 * What a vendor's full text has beyond the streamed one; undefined if they contradict each other.
 * White space around either is no contradiction: some servers trim the full text, and what was
 * streamed can't be taken back.
 */
export function restOf(streamed: string, whole: string): string | undefined {
  if (whole.startsWith(streamed)) return whole.slice(streamed.length);
  const [begun, full] = [streamed.trimStart(), whole.trimStart()];
  if (full.startsWith(begun)) return full.slice(begun.length);
  return begun.trimEnd() === full.trimEnd() ? "" : undefined;
}

/** True if two texts are the same JSON value. Some servers write a call's arguments anew at its end. */
export function isSameJson(left: string, right: string): boolean {
  if (left.trim() === right.trim()) return true;
  const [one, other] = [parseJson(left), parseJson(right)];
  return one.ok && other.ok && equalJson(one.value, other.value);
}

/** The notice of calls that were left out. */
function namelessCall(calls: number): Remark {
  const message = "a call without the name of a tool was left out of the reply";
  return { type: "remark", code: "nameless_call", message, evidence: { calls } };
}

/** The evidence stays with the item, so that a reader of the session can see what was left out. */
function withNameless(evidence: Json | undefined, namelessCalls: number): Json {
  return { ...(isJsonObject(evidence) ? evidence : {}), namelessCalls };
}

function failed(cause: Cause): StreamEnd {
  return { kind: "failed", cause };
}

/** The assembled part with what the protocol adds to its content. */
function closedPart(part: Part, close: ClosePart, mended: boolean): Part {
  switch (part.kind) {
    case "reasoning":
      return close.opaque === undefined ? part : { ...part, opaque: close.opaque };
    case "tool_call": {
      const call = close.opaque === undefined ? part : { ...part, opaque: close.opaque };
      const fault = close.fault ?? (mended ? { code: "malformed_text" as const } : undefined);
      if (fault === undefined) return call;
      const { input: _, fault: __, ...rest } = call;
      return { ...rest, fault };
    }
    case "tool_result":
      return {
        ...part,
        status: close.status ?? part.status,
        ...(close.output === undefined ? {} : { output: close.output }),
      };
    case "media":
    case "file": {
      if (close.url === undefined) return part;
      const { bytes: _, blob: __, ...rest } = part;
      return { ...rest, url: close.url };
    }
    default:
      return part;
  }
}

/**
 * The ending of a reply without proof that it is complete. `evidence` is what the vendor has
 * reported.
 */
export function cutEnding(end: StreamEnd, evidence?: Json): Ending {
  switch (end.kind) {
    case "aborted":
      return { stop: "aborted", cause: abortedCause };
    case "cut":
    case "failed":
      return {
        stop: end.cause.code === "truncated_transport" ? "truncated" : "failed",
        cause: end.cause,
      };
    default: {
      const message = "the stream ended, and nothing in it said that the reply was whole";
      return { stop: "truncated", cause: failure("truncated", message, evidence) };
    }
  }
}

import { packEpoch } from "@millrace/core/ports";
import type { Batch, CommitRequest, Epoch } from "@millrace/core/ports";
import { apply, emptyState, restateLane } from "@millrace/core/reading";
import { schemaVersion } from "@millrace/core/wire";
import { callId, itemId, partId, runId, turnId } from "@millrace/core/writing";
import type { Item, LiveEvent, Part, SessionState } from "@millrace/core";
import type { OpenLane } from "@millrace/core/reading";
import type { BodyOf } from "@millrace/core/writing";
import type { Node } from "./engines.ts";
import type { Session } from "./session.ts";
import { promise } from "./violation.ts";

/** One attempt at one item. */
export interface Job {
  readonly run: string;
  readonly turn: string;
  /** The reserved id. */
  readonly item: string;
  readonly lane: number;
  /** The calls that the reply ends with. */
  readonly calls: number;
  readonly incarnation: number;
  readonly generation: number;
  readonly attempt: number;
}

/** What an attempt does next, or how it ended. */
export type Phase =
  | "open"
  | "begin"
  | "run"
  | "reseed"
  | "commit"
  | "announced"
  | "done"
  | "fenced"
  | "crashed";

const part = partId("p");

/** A lane's writer, one step at a time, so that anything may happen between two of them. */
export class Writer {
  readonly job: Job;
  readonly epoch: Epoch;
  readonly texts: string[] = [];
  readonly itemId: string;
  phase: Phase = "open";
  head = 0;
  words = 0;
  idles = 0;
  /** A reader asked for all of it. */
  asked = false;
  /** The engine gave this attempt up. It may live all the same. */
  givenUp = false;
  stop: "aborted" | undefined;
  replaces = false;
  readonly #session: Session;
  readonly #node: Node;
  readonly #mark: string;
  /** What it has written, by the fold that readers use. */
  #written: SessionState;

  constructor(session: Session, job: Job, number: number) {
    const { incarnation, generation, attempt } = job;
    this.job = job;
    this.itemId = job.item;
    this.epoch = packEpoch({ incarnation, generation, attempt });
    this.#session = session;
    this.#node = session.node(number);
    this.#mark = `w${number}`;
    this.#written = emptyState(session.uid, session.sessionId);
    session.authors.set(this.epoch, this);
  }

  get seq(): number {
    return this.texts.length - 1;
  }

  get alive(): boolean {
    return this.phase !== "done" && this.phase !== "fenced" && this.phase !== "crashed";
  }

  get #lane(): OpenLane {
    const lane = this.#written.lanes[0];
    promise(lane !== undefined, () => `the writer of ${this.itemId} can't read its own lane`);
    return lane;
  }

  async open(): Promise<void> {
    const { uid, opened, truths } = this.#session;
    const { store } = this.#node;
    const { lane } = this.job;
    const aborting = truths.now.aborting;
    const request = { lane, epoch: this.epoch, itemId: itemId(this.job.item) };
    const intent = lane > 0 && !aborting ? { intent: this.#intent() } : {};
    const answer = await store.open(uid, { ...request, ...intent });
    if (answer.outcome !== "opened") {
      this.phase = answer.outcome === "exists" ? "done" : "fenced";
      return;
    }
    opened.set(lane, Math.max(this.epoch, opened.get(lane) ?? 0));
    await this.#session.announce(answer.facts, this.#node);
    this.head = answer.head;
    this.phase = "begin";
    // Answered without being begun.
    if (aborting) this.end("aborted");
  }

  async begin(): Promise<void> {
    this.phase = "run";
    await this.#say([this.#opening()]);
  }

  async write(): Promise<void> {
    this.words += 1;
    const chunk = `${this.#mark}.${this.words} `;
    const delta = { op: "append_text", partId: part, chunk } as const;
    const events: LiveEvent[] = [{ type: "content_delta", delta }];
    if (this.words === 1) {
      const began = { op: "begin_part", partId: part, ...this.#kind() } as const;
      events.unshift({ type: "content_delta", delta: began });
    }
    await this.#say(events, this.words === this.#session.setting.wholeAt);
  }

  /** The writer of an open lane without content appends its position. */
  async idle(): Promise<void> {
    this.idles += 1;
    await this.#say([{ type: "lane_idled" }]);
  }

  async restate(): Promise<void> {
    this.asked = false;
    this.phase = "run";
    await this.#say([{ type: "lane_idled" }], true);
  }

  end(stop?: "aborted"): void {
    this.stop = stop;
    this.phase = this.#session.keeps("stored before announced") ? "commit" : "announced";
  }

  async commit(acknowledged = true): Promise<void> {
    const { uid } = this.#session;
    const { store } = this.#node;
    const announced = this.phase === "announced";
    if (announced) await this.#announceTooEarly();
    const settlement = this.job.lane > 0 ? { settlement: [this.#settlement()] } : {};
    const answer = await store.commit(uid, { fact: this.#fact(), ...settlement });
    if (answer.outcome === "fenced") this.phase = "fenced";
    else if (!acknowledged) this.phase = "crashed";
    else this.phase = "done";
    if (answer.outcome === "committed" && acknowledged && !announced) {
      await this.#session.announce(answer.facts, this.#node);
    }
  }

  async #announceTooEarly(): Promise<void> {
    const { sessionId, head } = this.#session;
    const fact = { ...this.#fact(), v: schemaVersion, n: head + 1, sessionId, time: 0 } as const;
    await this.#session.announce([fact], this.#node);
  }

  /** Appends events as one batch, or with `whole` the whole lane and these as one from 0. */
  async #say(events: readonly LiveEvent[], whole = false): Promise<void> {
    const { sessionId } = this.#session;
    const first = this.texts.length;
    const last = first + events.length - 1;
    const batch: Batch = { ...this.#envelope(), first, last, events };
    const own = apply(this.#written, { ...batch, head: 0 });
    promise(own.verdict === "applied", () => `its own batch is a ${own.verdict} to ${this.itemId}`);
    this.#written = own.state;
    const text = this.texts.at(-1) ?? "";
    for (const event of events) {
      const delta = event.type === "content_delta" ? event.delta : undefined;
      this.texts.push(delta?.op === "append_text" ? text + delta.chunk : text);
    }
    const sent = whole ? restateLane(this.#lane, { sessionId, head: this.head }) : batch;
    const answer = await this.#session.send(sent, this.#node);
    if (answer.outcome === "refused" && answer.last.epoch > this.epoch) this.phase = "fenced";
    if (answer.outcome === "absent") this.#lost();
  }

  #lost(): void {
    if (!this.#session.keeps("the log is re-seeded after a loss")) return;
    if (this.#session.keeps("numbers go on after a loss of the log")) {
      this.phase = "reseed";
      return;
    }
    this.texts.length = 0;
    this.words = 0;
    this.#written = emptyState(this.#session.uid, this.#session.sessionId);
    this.phase = "begin";
  }

  #envelope(): Omit<Batch, "first" | "last" | "events"> {
    const { sessionId } = this.#session;
    const { epoch, head } = this;
    const { lane } = this.job;
    return { v: schemaVersion, sessionId, ...this.ids(), lane, epoch, head, time: 0 };
  }

  ids() {
    const { run, turn, item } = this.job;
    return { runId: runId(run), turnId: turnId(turn), itemId: itemId(item) };
  }

  #call() {
    return { callId: callId(this.job.item), tool: "look" };
  }

  #kind() {
    return this.job.lane === 0
      ? ({ kind: "text" } as const)
      : ({ kind: "tool_result", ...this.#call() } as const);
  }

  #opening(): LiveEvent {
    return this.job.lane === 0
      ? { type: "attempt_started", author: "model" }
      : { type: "attempt_started", author: "tool", ...this.#call() };
  }

  #intent(): BodyOf<"tool_execution_started"> {
    const { lane } = this.job;
    const { epoch } = this;
    return {
      type: "tool_execution_started",
      ...this.ids(),
      ...this.#call(),
      input: {},
      lane,
      epoch,
    };
  }

  #settlement(): BodyOf<"tool_execution_finished"> {
    const { itemId: _, ...ids } = this.ids();
    const status = this.stop ?? "ok";
    return { type: "tool_execution_finished", ...ids, ...this.#call(), status };
  }

  #fact(): CommitRequest["fact"] {
    const { itemId: id, ...ids } = this.ids();
    const { lane } = this.job;
    const { epoch } = this;
    const author = lane === 0 ? "model" : "tool";
    const ending: Pick<Item, "stop" | "cause"> =
      this.stop === undefined
        ? { stop: this.job.calls > 0 ? "tools" : "end" }
        : { stop: this.stop, cause: { code: "aborted", message: "a person stopped it" } };
    // Each branch above is a whole ending; spread they are one type again.
    const item = { id, author, parts: this.#parts(), ...ending } as Item;
    const type = this.replaces ? "item_replaced" : "item_committed";
    return { type, item, lane, epoch, ...ids };
  }

  #parts(): readonly Part[] {
    const { lane, calls, turn } = this.job;
    const text = this.replaces ? `instead of ${this.#mark}` : (this.texts.at(-1) ?? "");
    if (lane > 0) {
      return [{ ...this.#call(), kind: "tool_result", id: part, status: this.stop ?? "ok", text }];
    }
    const parts: Part[] = text === "" ? [] : [{ kind: "text", id: part, text }];
    for (let at = 0; at < calls && this.stop === undefined; at += 1) {
      const call = callId(callItem(turn, at));
      const id = partId(`c${at}`);
      parts.push({ kind: "tool_call", id, callId: call, tool: "look", raw: "{}", input: {} });
    }
    return parts;
  }
}

/** The reserved id of the result of a turn's call, which is also the call's. */
export function callItem(turn: string, at: number): string {
  return `${turn}.c${at}`;
}

import { SpanKind } from "@opentelemetry/api";
import type { Context } from "@opentelemetry/api";
import type { Cause, Item, LiveEvent, Usage } from "@millrace/core";
import type { Epoch } from "@millrace/core/ports";
import type { LiveEnvelope } from "@millrace/core/reading";
import type { AttemptStarted, FactOf } from "@millrace/core/writing";
import { providerAttributes, replyAttributes, splitModel, usageAttributes } from "./attributes.ts";
import { messagesOf } from "./content.ts";
import { errorOf } from "./settings.ts";
import type { SpanSettings } from "./settings.ts";
import { startSpan } from "./timed-span.ts";
import type { SpanError, TimedSpan } from "./timed-span.ts";

interface Attempt {
  readonly epoch: Epoch;
  readonly span: TimedSpan;
  /** Whether something of the reply has come. */
  begun: boolean;
  /** Why a retry is scheduled, until something of it comes. */
  failure: { readonly cause: Cause; readonly time: number } | undefined;
  /** Its item is there, and what it used has not been reported yet. */
  ended: { readonly time: number; readonly error: SpanError | undefined } | undefined;
}

/** The attempts at replies that are open in one session, at most one in each lane. */
export class AttemptSpans {
  readonly #settings: SpanSettings;
  readonly #open = new Map<number, Attempt>();

  constructor(settings: SpanSettings) {
    this.#settings = settings;
  }

  contextOf(lane: number): Context | undefined {
    return this.#open.get(lane)?.span.context;
  }

  isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /** A model's attempt. A tool's lane has its execution instead. */
  start(event: AttemptStarted & LiveEnvelope, run: TimedSpan): void {
    const { tracer, sessionId, provider } = this.#settings;
    const { lane, epoch, model, time } = event;
    const before = this.#open.get(lane);
    if (before !== undefined && before.epoch !== epoch) this.#end(lane, before, time);
    if (event.author !== "model" && model === undefined) return;
    const attributes = {
      "gen_ai.operation.name": "chat",
      "gen_ai.conversation.id": sessionId,
      "gen_ai.request.stream": true,
      "millrace.item.id": event.itemId,
      "millrace.epoch": epoch,
      ...providerAttributes(model, provider),
      ...(model === undefined ? {} : { "gen_ai.request.model": splitModel(model).model }),
    };
    const name = model === undefined ? "chat" : `chat ${splitModel(model).model}`;
    const parent = run.context;
    const span = startSpan(tracer, name, { kind: SpanKind.CLIENT, attributes, parent, time });
    this.#open.set(lane, { epoch, span, begun: false, failure: undefined, ended: undefined });
  }

  take(event: LiveEvent & LiveEnvelope): void {
    const attempt = this.#open.get(event.lane);
    if (attempt === undefined || attempt.epoch !== event.epoch) return;
    const { span } = attempt;
    if (event.type === "content_delta") {
      attempt.failure = undefined;
      if (attempt.begun) return;
      attempt.begun = true;
      const waited = (event.time - span.startedAt) / 1_000;
      span.set({ "gen_ai.response.time_to_first_chunk": Math.max(0, waited) });
    } else if (event.type === "retry_scheduled") {
      attempt.failure = { cause: event.cause, time: event.time };
      const noted = { "error.type": event.cause.code, "millrace.retry.delay_ms": event.delayMs };
      span.note("millrace.retry_scheduled", noted, event.time);
    } else if (event.type === "stalled") {
      span.note("millrace.stalled", { "millrace.silent_ms": event.silentMs }, event.time);
    }
  }

  /** The reply is stored. What it used may stand on it, or in a report that follows. */
  commit(
    item: Item,
    at: { readonly lane: number; readonly epoch: Epoch; readonly time: number },
  ): void {
    const attempt = this.#open.get(at.lane);
    if (attempt === undefined || attempt.epoch !== at.epoch) return;
    attempt.span.set(replyAttributes(item));
    if (this.#settings.content) attempt.span.set({ "gen_ai.output.messages": messagesOf([item]) });
    const cut = item.stop === "failed" || item.stop === "truncated";
    attempt.ended = { time: at.time, error: cut ? errorOf(this.#settings, item.cause) : undefined };
    if (item.usage !== undefined) this.#settle(at.lane, attempt, item.usage);
  }

  report({ epoch, usage }: FactOf<"usage_reported">): void {
    for (const [lane, attempt] of this.#open) {
      if (attempt.epoch === epoch) this.#settle(lane, attempt, usage);
    }
  }

  /** Ends all up to and including this epoch. */
  close(epoch: Epoch, time: number): void {
    for (const [lane, attempt] of this.#open) {
      if (attempt.epoch <= epoch) this.#end(lane, attempt, time);
    }
  }

  #settle(lane: number, attempt: Attempt, usage: Usage): void {
    attempt.span.set(usageAttributes(usage));
    if (attempt.ended !== undefined) this.#end(lane, attempt, attempt.ended.time);
  }

  #end(lane: number, attempt: Attempt, time: number): void {
    this.#open.delete(lane);
    const { span, ended, failure } = attempt;
    if (ended !== undefined) span.end(ended.time, ended.error);
    else if (failure !== undefined) span.end(failure.time, errorOf(this.#settings, failure.cause));
    else span.end(time, { type: "superseded" }); // no item comes of it, and no event gives the cause
  }
}

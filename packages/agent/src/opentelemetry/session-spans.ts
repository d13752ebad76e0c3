import { SpanKind } from "@opentelemetry/api";
import type { Context } from "@opentelemetry/api";
import { packEpoch } from "@millrace/core/ports";
import type { Epoch, TraceContext } from "@millrace/core/ports";
import { addUsage, noUsage } from "@millrace/core/writing";
import type { CallId, Item, RunEvent, RunId, SessionId, StopReason, Usage } from "@millrace/core";
import { returnedBy } from "@millrace/core/reading";
import type { LiveEnvelope } from "@millrace/core/reading";
import type { AttemptStarted, FactOf } from "@millrace/core/writing";
import { AttemptSpans } from "./attempt-spans.ts";
import { finishReasons, providerAttributes, usageAttributes } from "./attributes.ts";
import { messagesOf } from "./content.ts";
import { errorOf } from "./settings.ts";
import type { SpanSettings } from "./settings.ts";
import { startSpan } from "./timed-span.ts";
import type { TimedSpan } from "./timed-span.ts";

interface RunSpan {
  readonly runId: RunId;
  readonly span: TimedSpan;
  usage: Usage;
  stop: StopReason | undefined;
  /** Kept for content only. */
  readonly asked: Item[];
  answer: Item | undefined;
}

interface RunBegin {
  readonly runId: RunId;
  readonly time: number;
  readonly trace?: TraceContext;
}

interface ToolSpan {
  readonly span: TimedSpan;
  readonly childSessionId: SessionId | undefined;
}

/** The open spans of one session. */
export class SessionSpans {
  readonly #settings: SpanSettings;
  readonly #attempts: AttemptSpans;
  readonly #tools = new Map<CallId, ToolSpan>();
  #run: RunSpan | undefined;
  #time = 0;

  constructor(settings: SpanSettings) {
    this.#settings = settings;
    this.#attempts = new AttemptSpans(settings);
  }

  /** The context of the attempt that a lane is at, or of the run. */
  contextOf(lane: number | undefined): Context | undefined {
    const attempt = lane === undefined ? undefined : this.#attempts.contextOf(lane);
    return attempt ?? this.#run?.span.context;
  }

  isOver(): boolean {
    return this.#run === undefined && this.#tools.size === 0 && this.#attempts.isEmpty();
  }

  /** Ends what is open at the time of the last event. */
  interrupt(): void {
    this.#endAll(Infinity, "interrupted");
    this.#run?.span.end(this.#time, { type: "interrupted" });
    this.#run = undefined;
  }

  take(event: RunEvent): void {
    this.#time = event.time;
    if (event.type === "connection_changed") return;
    if (event.type === "secret_noticed") {
      const noted = { "millrace.secret.name": event.secret, "millrace.author": event.author };
      this.#run?.span.note("millrace.secret_noticed", noted, event.time);
      return;
    }
    if (!("n" in event)) {
      if (event.type === "attempt_started") this.#startAttempt(event);
      else this.#attempts.take(event);
      return;
    }
    switch (event.type) {
      case "run_started":
        this.interrupt();
        this.#run = this.#startRun(event, false);
        return;
      case "turn_started":
        this.#runOf(event);
        return;
      case "turn_finished":
        if (this.#run !== undefined) this.#run.stop = event.stop;
        this.#attempts.close(event.closes, event.time);
        return;
      case "run_finished":
        return this.#finishRun(event);
      case "session_claimed":
        this.#attempts.close(lastEpochBefore(event.incarnation), event.time);
        return;
      case "item_committed":
      case "item_replaced":
        return this.#takeItem(event);
      case "tool_execution_started":
        return this.#startTool(event);
      case "tool_execution_finished":
        return this.#finishTool(event);
      case "usage_reported":
        if (this.#run?.runId === event.runId)
          this.#run.usage = addUsage(this.#run.usage, event.usage);
        this.#attempts.report(event);
        return;
      case "approval_requested":
      case "approval_resolved":
      case "compaction_started":
      case "compaction_finished":
        return this.#note(event);
      case "session_released":
      case "input_accepted":
      case "queue_updated":
      case "guidance_set":
      case "reasoning_dropped":
      case "part_left_out":
      case "prefix_broken":
      case "notice":
      case "opaque":
        return;
      default:
        event satisfies never;
    }
  }

  #startRun({ runId, time, trace }: RunBegin, resumed: boolean): RunSpan {
    const { tracer, sessionId, agent, parent } = this.#settings;
    const attributes = {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.conversation.id": sessionId,
      "millrace.run.id": runId,
      ...(agent === undefined ? {} : { "gen_ai.agent.name": agent }),
      ...(resumed ? { "millrace.run.resumed": true } : {}),
    };
    const name = agent === undefined ? "invoke_agent" : `invoke_agent ${agent}`;
    const span = startSpan(tracer, name, {
      kind: SpanKind.INTERNAL,
      attributes,
      parent: parent(trace),
      time,
    });
    return { runId, span, usage: noUsage, stop: undefined, asked: [], answer: undefined };
  }

  /** The run of an event. One that was not seen to start is gone on with after a crash. */
  #runOf(event: { readonly runId: RunId; readonly time: number }): RunSpan {
    if (this.#run?.runId !== event.runId) {
      this.interrupt();
      this.#run = this.#startRun(event, true);
    }
    return this.#run;
  }

  #startAttempt(event: AttemptStarted & LiveEnvelope): void {
    const { span } = this.#runOf(event);
    span.set(providerAttributes(event.model, this.#settings.provider));
    this.#attempts.start(event, span);
  }

  #finishRun(fact: FactOf<"run_finished">): void {
    this.#endAll(fact.closes, "interrupted");
    const run = this.#run;
    if (run?.runId !== fact.runId) return;
    const { span, stop, usage, asked, answer } = run;
    span.set({ ...usageAttributes(usage), "millrace.run.outcome": fact.outcome });
    if (stop !== undefined) span.set({ "gen_ai.response.finish_reasons": [finishReasons[stop]] });
    if (fact.outcome === "limited") span.set({ "millrace.run.limit": fact.limit });
    if (this.#settings.content) {
      span.set({ "gen_ai.input.messages": messagesOf(asked) });
      if (answer !== undefined) span.set({ "gen_ai.output.messages": messagesOf([answer]) });
    }
    span.end(
      fact.time,
      fact.outcome === "failed" ? errorOf(this.#settings, fact.cause) : undefined,
    );
    this.#run = undefined;
  }

  #takeItem(fact: FactOf<"item_committed" | "item_replaced">): void {
    const { item, lane, epoch, time } = fact;
    if (lane !== undefined && epoch !== undefined)
      this.#attempts.commit(item, { lane, epoch, time });
    if (!this.#settings.content) return;
    if (item.author === "user") this.#run?.asked.push(item);
    else if (item.author !== "tool" && this.#run !== undefined) this.#run.answer = item;
    for (const part of item.parts) {
      if (part.kind !== "tool_result") continue;
      const result = JSON.stringify(returnedBy(part));
      this.#tools.get(part.callId)?.span.set({ "gen_ai.tool.call.result": result });
    }
  }

  #startTool(fact: FactOf<"tool_execution_started">): void {
    const { tracer, sessionId, content, callers } = this.#settings;
    const { callId, tool, input, time, childSessionId } = fact;
    const run = this.#runOf(fact);
    this.#endTool(callId, time, "superseded");
    const attributes = {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": tool,
      "gen_ai.tool.call.id": callId,
      "gen_ai.tool.type": "function",
      "gen_ai.conversation.id": sessionId,
      ...(content ? { "gen_ai.tool.call.arguments": JSON.stringify(input) } : {}),
    };
    const parent = run.span.context;
    const kind = SpanKind.INTERNAL;
    const span = startSpan(tracer, `execute_tool ${tool}`, { kind, attributes, parent, time });
    this.#tools.set(callId, { span, childSessionId });
    if (childSessionId !== undefined) callers.set(childSessionId, span.context);
  }

  #finishTool({ callId, status, time }: FactOf<"tool_execution_finished">): void {
    this.#tools.get(callId)?.span.set({ "millrace.tool.status": status });
    // Being stopped or denied is no fault of the tool's.
    const failed = status === "failed" || status === "unknown";
    this.#endTool(callId, time, failed ? `tool_${status}` : undefined);
  }

  #endTool(callId: CallId, time: number, error: string | undefined): void {
    const tool = this.#tools.get(callId);
    if (tool === undefined) return;
    tool.span.end(time, error === undefined ? undefined : { type: error });
    this.#tools.delete(callId);
    if (tool.childSessionId !== undefined) this.#settings.callers.delete(tool.childSessionId);
  }

  #endAll(closes: Epoch, error: string): void {
    this.#attempts.close(closes, this.#time);
    for (const callId of this.#tools.keys()) this.#endTool(callId, this.#time, error);
  }

  #note(
    fact: FactOf<
      "approval_requested" | "approval_resolved" | "compaction_started" | "compaction_finished"
    >,
  ): void {
    const call = "callId" in fact ? { "gen_ai.tool.call.id": fact.callId } : {};
    const tool = fact.type === "approval_requested" ? { "gen_ai.tool.name": fact.tool } : {};
    const decision =
      fact.type === "approval_resolved" ? { "millrace.decision": fact.decision } : {};
    this.#run?.span.note(`millrace.${fact.type}`, { ...call, ...tool, ...decision }, fact.time);
  }
}

/** The highest epoch of all incarnations before this one. */
function lastEpochBefore(incarnation: number): Epoch {
  return packEpoch({ incarnation, generation: 0, attempt: 0 }) - 1;
}

import {
  context,
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  trace,
} from "@opentelemetry/api";
import type { Context, Tracer } from "@opentelemetry/api";
import type { SessionId } from "@millrace/core";
import type { TraceContext } from "@millrace/core/ports";
import type { Observer } from "../definition/observer.ts";
import type { TracedRequest } from "../definition/settings.ts";
import type { SpanSettings } from "./settings.ts";
import { SessionSpans } from "./session-spans.ts";

/** Which tracer gets the spans, and what they carry. */
export interface OpenTelemetryOptions {
  /** Left out: one of the global provider. */
  readonly tracer?: Tracer | undefined;
  /** The agent's name, which events don't carry. */
  readonly agent?: string | undefined;
  /** The provider's name in the conventions' list. Left out: the vendor of the model's protocol. */
  readonly provider?: string | undefined;
  /**
   * Writes prompts, answers, arguments, results and error messages to attributes, readable in the
   * traces. Default: false, and only names, ids, numbers and codes are written.
   */
  readonly content?: boolean | undefined;
}

/** Disposing ends the spans of what is under way, so that an exporter's last flush has them. */
export interface TelemetryObserver extends Observer, Disposable {
  /** The span of a reply that is being asked for, or of its run: for an agent's `trace`. Bound. */
  readonly traceOf: (place: TracedRequest) => TraceContext | undefined;
}

/**
 * Makes spans by OpenTelemetry's conventions for generative AI: `invoke_agent` for a run, and inside
 * of it `chat` for each attempt at a reply and `execute_tool` for each execution. A run's parent is
 * the span of the request that began it, if its input names one, else the span that is active when it
 * starts; that of a sub-agent is the execution that called it. Times
 * are those of the events. A run that is taken up after a crash is a new span, marked as resumed.
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): TelemetryObserver {
  const tracer = options.tracer ?? trace.getTracer("@millrace/agent");
  const sessions = new Map<SessionId, SessionSpans>();
  const callers = new Map<SessionId, Context>();
  const observe: Observer = (event) => {
    const { sessionId } = event;
    let spans = sessions.get(sessionId);
    if (spans === undefined) {
      const { agent, provider, content = false } = options;
      const parent: SpanSettings["parent"] = (trace) =>
        callers.get(sessionId) ?? remoteContext(trace) ?? context.active();
      spans = new SessionSpans({ tracer, sessionId, agent, provider, content, parent, callers });
      sessions.set(sessionId, spans);
    }
    spans.take(event);
    if (spans.isOver()) sessions.delete(sessionId);
  };
  return Object.assign(observe, {
    traceOf: ({ sessionId, lane }: TracedRequest) => {
      const found = sessions.get(sessionId)?.contextOf(lane);
      return found === undefined ? undefined : traceContextOf(found);
    },
    [Symbol.dispose]: () => {
      for (const spans of sessions.values()) spans.interrupt();
      sessions.clear();
      callers.clear();
    },
  });
}

/** The span of another process as a parent. Undefined if there is none, or none that can be one. */
function remoteContext(of: TraceContext | undefined): Context | undefined {
  const [, traceId = "", spanId = "", flags = ""] =
    /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/.exec(of?.traceparent ?? "") ??
    [];
  const state = of?.tracestate === undefined ? {} : { traceState: createTraceState(of.tracestate) };
  const span = { traceId, spanId, traceFlags: parseInt(flags, 16) & 1, isRemote: true, ...state };
  return isSpanContextValid(span) ? trace.setSpanContext(ROOT_CONTEXT, span) : undefined;
}

/** A context's span in the form of the W3C's headers. Nothing for a span that no SDK made. */
function traceContextOf(of: Context): TraceContext | undefined {
  const span = trace.getSpanContext(of);
  if (span === undefined || !isSpanContextValid(span)) return undefined;
  const { traceId, spanId, traceFlags, traceState } = span;
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
  const tracestate = traceState?.serialize() ?? "";
  return tracestate === "" ? { traceparent } : { traceparent, tracestate };
}

import type { Context, Tracer } from "@opentelemetry/api";
import type { Cause, SessionId } from "@millrace/core";
import type { TraceContext } from "@millrace/core/ports";
import type { SpanError } from "./timed-span.ts";

/** What the spans of one session are made by. */
export interface SpanSettings {
  readonly tracer: Tracer;
  readonly sessionId: SessionId;
  readonly agent: string | undefined;
  readonly provider: string | undefined;
  readonly content: boolean;
  /** What a run that starts now belongs to, by the trace of the request that began it if that is known. */
  readonly parent: (trace?: TraceContext) => Context;
  /** Executions that run as a session of their own, by that session. */
  readonly callers: Map<SessionId, Context>;
}

/** A cause as a span's error. Its words may quote a prompt, so they count as content. */
export function errorOf({ content }: SpanSettings, { code, message }: Cause): SpanError {
  return { type: code, message: content ? message : undefined };
}

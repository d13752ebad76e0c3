import { SpanStatusCode, trace } from "@opentelemetry/api";
import type { Attributes, Context, HrTime, Span, SpanOptions, Tracer } from "@opentelemetry/api";

/** A span whose times are those of events, not of their delivery. */
export interface TimedSpan {
  /** The context in which its children start. */
  readonly context: Context;
  readonly startedAt: number;
  readonly set: (attributes: Attributes) => void;
  readonly note: (name: string, attributes: Attributes, time: number) => void;
  /** Ends it, once; with what went wrong, if something did. The message is left out by default. */
  readonly end: (time: number, error?: SpanError) => void;
}

export interface SpanError {
  /** One of a small set, such as a cause's code. */
  readonly type: string;
  readonly message?: string | undefined;
}

export function startSpan(
  tracer: Tracer,
  name: string,
  options: Pick<SpanOptions, "kind" | "attributes"> & {
    readonly parent: Context;
    readonly time: number;
  },
): TimedSpan {
  const { parent, time, ...rest } = options;
  const span: Span = tracer.startSpan(name, { ...rest, startTime: hrTime(time) }, parent);
  return {
    context: trace.setSpan(parent, span),
    startedAt: time,
    set: (attributes) => void span.setAttributes(attributes),
    note: (noted, attributes, at) => void span.addEvent(noted, attributes, hrTime(at)),
    end: (at, error) => {
      if (error !== undefined) {
        span.setAttribute("error.type", error.type);
        const { message } = error;
        span.setStatus({
          code: SpanStatusCode.ERROR,
          ...(message === undefined ? {} : { message }),
        });
      }
      // Another machine's clock may be behind the one that wrote the start.
      span.end(hrTime(Math.max(time, at)));
    },
  };
}

/** As a pair: the interface can't distinguish a number that is a date from one since the start. */
function hrTime(ms: number): HrTime {
  return [Math.floor(ms / 1_000), Math.floor((ms % 1_000) * 1e6)];
}

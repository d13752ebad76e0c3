import type { SessionRecord } from "@millrace/core/ports";
import type { StreamEndReason } from "@millrace/core/wire";
import type { Sink } from "../hub/options.ts";

/** What a route answers. At most one of `json`, `bytes` and `stream` is set. */
export interface Answer {
  readonly status: number;
  /** Lower-case names. They win over the common headers, such as `cache-control`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Written by `JSON.stringify`. */
  readonly json?: unknown;
  /** A body that is no JSON. Iterated once, and at the pace of the connection. */
  readonly bytes?: Uint8Array | AsyncIterable<Uint8Array> | undefined;
  /** Server-sent events. Status and headers go out when the sink is opened. */
  readonly stream?: StreamAnswer | undefined;
}

/** An answer that goes on: a subscription, or a run in its own answer. */
export interface StreamAnswer {
  /** The sessions that it shows. Each counts as a viewer, and `read` is asked again for each while it is open. */
  readonly sessions: readonly SessionRecord[];
  /** Called once. A failure before `sink.open` is answered as a problem. */
  readonly start: (sink: Sink) => StreamHandle;
}

/** A stream that is open. */
export interface StreamHandle {
  /** Resolves when nothing follows, and rejects if the hub failed. */
  readonly ended: Promise<void>;
  /** Ends it with a `stream_ended` of this reason; with a session: ends that one of several. */
  readonly end: (reason: StreamEndReason, session?: SessionRecord) => void;
}

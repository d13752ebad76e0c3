import { encodingOf } from "../encoding/forms.ts";
import { streamEndReason } from "../encoding/stream-end.ts";
import type { Clock, SessionStore } from "@millrace/core/ports";
import { sessionsAtMost } from "./check-options.ts";
import { Children } from "./children.ts";
import { Delivery } from "./delivery.ts";
import { ManyStream } from "./many-stream.ts";
import type { DeliverManyOptions, DeliverOptions, DeliveredEnd, WatchOptions } from "./options.ts";
import type { Rooms } from "./rooms.ts";
import type { Sink } from "./sink.ts";
import { Stream } from "./stream.ts";
import type { Streams } from "./streams.ts";

/** What a hub serves from. */
export interface Serving {
  readonly rooms: Rooms;
  readonly streams: Streams;
  readonly store: Pick<SessionStore, "find">;
  readonly clock: Clock;
}

/**
 * One session to one sink. See `Hub.deliver`. Not async: the frame of a waiting async function would be
 * most of the memory that a viewer costs.
 */
export function deliverOne(
  { rooms, streams }: Serving,
  { form, signal, ...options }: DeliverOptions,
  sink: Sink,
): Promise<DeliveredEnd> {
  if (signal?.aborted === true) return Promise.resolve({});
  return new Promise((resolve) => {
    const encoding = encodingOf(form);
    const stream = new Stream(streams, sink, resolve, encoding);
    if (!stream.bind(signal)) return;
    const room = rooms.of(options);
    if (room === undefined) return stream.finish({ reason: "drain" });
    stream.begin(new Delivery({ room, encoding, outlet: stream, ...options }));
  });
}

/** Several sessions to one sink. See `Hub.deliverMany`. */
export function deliverAll(
  { rooms, streams, store, clock }: Serving,
  { sessions, children: withChildren = false, form, signal }: DeliverManyOptions,
  sink: Sink,
): Promise<DeliveredEnd> {
  if (signal?.aborted === true) return Promise.resolve({});
  return new Promise((resolve) => {
    const stream = new ManyStream(streams, sink, resolve);
    if (!stream.bind(signal)) return;
    stream.open(undefined);
    const encoding = encodingOf(form);
    const add = (session: WatchOptions): Delivery | undefined => {
      if (stream.isOver) return undefined;
      const room = rooms.of(session);
      if (room === undefined) {
        stream.finish({ reason: "drain" });
        return undefined;
      }
      const { cursor, budget } = session;
      const delivery = new Delivery({ room, encoding, outlet: stream, cursor, budget });
      endBy(session, delivery);
      stream.add(delivery, session, children);
      return delivery;
    };
    const hasRoom = (): boolean => stream.sessions < sessionsAtMost;
    const children = withChildren ? new Children({ store, clock, hasRoom, add }) : undefined;
    for (const session of sessions) {
      if ("ended" in session) stream.tellEnd(session.sessionId, session.ended);
      else add(session);
      if (stream.isOver) return;
    }
    stream.endIfEmpty();
  });
}

/** Ends one session of a stream by its own signal. The listener goes with the signal. */
function endBy({ signal }: WatchOptions, delivery: Delivery): void {
  if (signal === undefined) return;
  const stop = (): void => delivery.leave({ reason: streamEndReason(signal.reason) });
  if (signal.aborted) queueMicrotask(stop);
  else signal.addEventListener("abort", stop, { once: true });
}

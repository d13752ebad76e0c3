import { decodeCursor } from "@millrace/core/wire";
import type { Cursor } from "@millrace/core/reading";
import type { SessionRecord } from "@millrace/core/ports";
import type { DeliverOptions } from "../hub/options.ts";
import type { Answer } from "../http/answer.ts";
import type { RouteContext } from "../http/route-context.ts";

/** How a session is shown in a stream. */
export type StreamOptions = Pick<DeliverOptions, "cursor" | "budget" | "form" | "until">;

/** A session as server-sent events. */
export function sessionStream(
  { hub }: Pick<RouteContext, "hub">,
  session: SessionRecord,
  options: StreamOptions,
): Answer {
  const { uid, sessionId } = session;
  return {
    status: 200,
    stream: {
      sessions: [session],
      start: (sink) => {
        const ending = new AbortController();
        const { signal } = ending;
        const ended = hub.deliver({ ...options, uid, sessionId, signal }, sink);
        return { ended: ended.then(() => undefined), end: (reason) => ending.abort(reason) };
      },
    },
  };
}

/** The position that a client names. What can't be one is none: its reader gets a snapshot, never an error. */
export function cursorOf(text: string | undefined): Cursor | undefined {
  return text === undefined || text === "" ? undefined : decodeCursor(text);
}

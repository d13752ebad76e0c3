import type { SessionRecord } from "@millrace/core/ports";
import type { ManySession } from "../hub/options.ts";
import { sessionsAtMost } from "../hub/check-options.ts";
import { untilGrid } from "../http/grid.ts";
import { Problem } from "../http/problem.ts";
import type { RouteWork } from "../http/route-context.ts";
import { cursorOf } from "./session-stream.ts";

interface ManyBody {
  readonly sessions: readonly { readonly id: string; readonly cursor?: string }[];
  readonly children?: boolean;
  readonly budget?: number;
  readonly form?: "whole";
}

/**
 * Follows many sessions in one stream. One that can't be read is a `stream_ended` with its id, and the
 * others go on. With `children` sub-agents are shown while they work.
 */
export const watchSessions: RouteWork = async (context) => {
  const { hub, clock } = context;
  const { sessions: asked, children, budget, form } = context.body as ManyBody; // of the route's shape
  const atMost = Math.min(context.limits.sessionsPerStream, sessionsAtMost);
  checkAsked(asked, atMost);
  const begun = clock.monotonic();
  const found: SessionRecord[] = [];
  const many: { readonly session: ManySession; readonly ending?: AbortController }[] = [];
  const add = (record: SessionRecord, cursor?: string): void => {
    const ending = new AbortController();
    const { uid, sessionId } = record;
    found.push(record);
    const watched = { uid, sessionId, cursor: cursorOf(cursor), budget, signal: ending.signal };
    many.push({ session: watched, ending });
  };
  let isMissing = false;
  for (const { id, cursor } of asked) {
    const record = await context.open(id, "read");
    if (record !== undefined) add(record, cursor);
    else {
      isMissing = true;
      await context.quotas.missed();
      many.push({ session: { sessionId: id, ended: "not_found" } });
    }
  }
  // As a 404 does.
  if (isMissing) await untilGrid(() => clock.monotonic() - begun, clock.sleep);
  return {
    status: 200,
    stream: {
      sessions: found,
      start: (sink) => {
        const all = new AbortController();
        const { signal } = all;
        const sessions = many.map(({ session }) => session);
        const mayShow = async ({ sessionId, uid }: SessionRecord): Promise<boolean> =>
          (await context.open(sessionId, "read"))?.uid === uid;
        const ended = hub.deliverMany({ sessions, children, mayShow, form, signal }, sink);
        return {
          ended: ended.then(() => undefined),
          end: (reason, session) => {
            if (session === undefined) return all.abort(reason);
            many[positionOf(many, session)]?.ending?.abort(reason);
          },
        };
      },
    },
  };
};

function checkAsked(asked: ManyBody["sessions"], limit: number): void {
  if (asked.length > limit) {
    const detail = `one stream shows at most ${limit} sessions: open another one`;
    throw new Problem("quota_exceeded", detail, { policy: "sessionsPerStream", limit });
  }
  if (new Set(asked.map(({ id }) => id)).size < asked.length) {
    throw new Problem("invalid_request", "a session is named twice", { pointer: "/sessions" });
  }
}

function positionOf(
  many: readonly { readonly session: ManySession }[],
  { uid }: SessionRecord,
): number {
  return many.findIndex(({ session }) => "uid" in session && session.uid === uid);
}

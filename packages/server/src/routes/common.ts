import { createInbox } from "@millrace/core";
import type { Actor, Inbox, InputId } from "@millrace/core";
import type { SessionRecord, TraceContext, SessionStore } from "@millrace/core/ports";
import { isReset } from "@millrace/core/store-kit";
import { readSession } from "@millrace/core/reading";
import type { InboxStart } from "@millrace/core/writing";
import { notFound } from "../http/problem.ts";
import type { RouteContext } from "../http/route-context.ts";
import { readBack } from "./read-back.ts";

/** The session of the path. Routes whose path names none do not call this. */
export function sessionOf({ session }: Pick<RouteContext, "session">): SessionRecord {
  if (session === undefined) throw notFound();
  return session;
}

/** The person for whom a request is made, as facts name them. */
export function actorOf({ who }: Pick<RouteContext, "who">): Actor {
  return { user: who.user, via: "http" };
}

/** What people send to a session, in the name of the caller. Reads no more of the session than it needs. */
export function inboxOf(
  context: Pick<RouteContext, "store" | "log" | "who" | "clientTools">,
  session: SessionRecord,
): Inbox {
  const { store, log } = context;
  const { uid, sessionId } = session;
  const start = startOf({ store, uid, sessionId });
  const clientTools = (): Promise<ReadonlySet<string>> => context.clientTools(session);
  return createInbox({ store, log, uid, actor: actorOf(context), start, clientTools });
}

/** A list of vendors' members by the W3C's rule, within the length that everybody takes. */
const traceState = /^[\x20-\x7e]{1,512}$/;

/** The span that the caller's request is part of, for the run that it begins. A malformed one is as good as none. */
export function traceOf({ header }: Pick<RouteContext, "header">): TraceContext | undefined {
  const traceparent = header("traceparent") ?? "";
  const [, trace = "", span = ""] =
    /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(traceparent) ?? [];
  if (!/[1-9a-f]/.test(trace) || !/[1-9a-f]/.test(span)) return undefined;
  const tracestate = header("tracestate");
  const hasState = tracestate !== undefined && traceState.test(tracestate);
  return hasState ? { traceparent, tracestate } : { traceparent };
}

/** Set on the answer to a repeat. */
export function replayedHeader(replayed: boolean): Readonly<Record<string, string>> {
  return replayed ? { "idempotency-replayed": "true" } : {};
}

/** A part of a relative reference. */
export function pathSegment(id: string): string {
  return encodeURIComponent(id);
}

/** A session, and the store that it is read from. */
export interface ReadableSession extends Pick<SessionRecord, "uid" | "sessionId"> {
  readonly store: Pick<SessionStore, "read" | "checkpoint">;
}

/**
 * What an inbox needs to know of a session, read by its newest checkpoint and the facts since the start of its run
 * and of the inputs that wait. Gives nothing if one of them is not found: then all facts are read.
 */
function startOf(session: ReadableSession): () => Promise<InboxStart | undefined> {
  return async () => {
    const { paged, facts: newest } = await readSession(session);
    const { state } = paged;
    const { run, queue } = state;
    for await (const facts of readBack({ ...session, before: state.head + 1, newest })) {
      const since = facts.findLast(
        (fact) => isReset(fact) || (fact.type === "run_started" && fact.runId === run?.runId),
      )?.n;
      const accepted = new Map<InputId, number>();
      for (const fact of facts)
        if (fact.type === "input_accepted") accepted.set(fact.inputId, fact.n);
      const isThere = run === undefined || since !== undefined;
      if (isThere && queue.every(({ inputId }) => accepted.has(inputId)))
        return { state, since: since ?? 0, acceptedAt: (inputId) => accepted.get(inputId) };
    }
    return undefined;
  };
}

import type { Tickets } from "../auth/tickets.ts";
import { Problem, notFound } from "../http/problem.ts";
import type { RouteWork } from "../http/route-context.ts";

interface TicketBody {
  readonly sessionId: string;
  readonly use: "events" | "blob";
  readonly hash?: string;
}

/** Makes tickets for sessions that the caller may read. Local mode has none: its token is for headers. */
export function ticketWork(tickets: Tickets | undefined, now: () => number): RouteWork {
  return async (context) => {
    if (tickets === undefined) throw new Problem("forbidden", "local mode has no tickets");
    const { sessionId, use, hash } = context.body as TicketBody; // of the route's shape
    if ((use === "blob") !== (hash !== undefined)) {
      const pointer = "/hash";
      throw new Problem("invalid_request", "a ticket for a blob names its hash", { pointer });
    }
    const session = await context.open(sessionId, "read");
    if (session === undefined) throw notFound();
    const { uid } = session;
    return { status: 201, json: tickets.make(context.who, { use, sessionId, uid, hash }, now()) };
  };
}

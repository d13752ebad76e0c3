import type { Posted } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import type { Answer } from "../http/answer.ts";
import type { RouteContext } from "../http/route-context.ts";
import { cursorOf, sessionStream } from "./session-stream.ts";

/**
 * The session in the answer to a prompt, up to the end of its run, then `finished`. A client that loses
 * the connection comes back to the session's events with the last id, or posts again with the same key.
 */
export function runStream(
  context: RouteContext,
  session: SessionRecord,
  { runId, inputId, n }: Posted,
  cursor: string | undefined,
): Answer {
  const until = runId === undefined ? undefined : { runId, inputId, n };
  const from = cursorOf(context.header("last-event-id") ?? cursor);
  return sessionStream(context, session, { cursor: from, until });
}

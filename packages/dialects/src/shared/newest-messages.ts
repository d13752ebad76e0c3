import type { RouteContext } from "@millrace/server/dialect";

/** Messages of one answer, if the page asks for no other number. */
const usual = 200;

/** A page of messages, oldest first. */
interface MessagePage<Message> {
  readonly messages: readonly Message[];
  /** The message before which the page before ends. Left out: there is none. */
  readonly next?: string;
}

/** The newest of a session's messages, or those before one, by the route's `limit` and `before`. */
export function newestMessages<Message extends { readonly id: string }>(
  all: readonly Message[],
  { query }: Pick<RouteContext, "query">,
): MessagePage<Message> {
  const { limit = usual, before } = query as HistoryQuery; // of the route's shape
  const end = before === undefined ? all.length : all.findIndex(({ id }) => id === before);
  const start = Math.max(0, end - limit);
  const messages = all.slice(start, Math.max(0, end));
  const next = start > 0 ? messages[0]?.id : undefined;
  return { messages, ...(next === undefined ? {} : { next }) };
}

interface HistoryQuery {
  readonly limit?: number;
  readonly before?: string;
}

import { readSession } from "@millrace/core/reading";
import type { HistoryTurn } from "./encode/turns.ts";
import type { RouteContext } from "@millrace/server/dialect";
import { sessionOf } from "@millrace/server/dialect";
import { readTurns } from "./read-turns.ts";

/** Messages of one answer, if the page asks for no other number. */
const usual = 200;

/** As many facts as a message has in most sessions. */
const factsOfMessage = 5;

/** A page of messages, oldest first. */
interface MessagePage<Message> {
  readonly messages: readonly Message[];
  /** The message before which the page before ends. Left out: there is none. */
  readonly next?: string;
}

/**
 * The newest of a session's messages, or those before one, by the route's `limit` and `before`. Costs what is
 * stored since the first of them, and no more of the session.
 */
export async function newestMessages<Message extends { readonly id: string }>(
  context: RouteContext,
  messagesOf: (turn: HistoryTurn) => readonly Message[],
): Promise<MessagePage<Message>> {
  const { limit = usual, before } = context.query as HistoryQuery; // of the route's shape
  const { store } = context;
  const session = sessionOf(context);
  const { uid, sessionId } = session;
  const { paged, facts } = await readSession({ store, uid, sessionId });
  const start = { state: paged.state, facts, first: limit * factsOfMessage };
  const newer = new Map<string, number>();
  const found: { readonly name: string; readonly message: Message }[] = [];
  let isBefore = before === undefined;
  for await (const turn of readTurns(context, session, start)) {
    for (const message of messagesOf(turn).toReversed()) {
      const name = nameOf(message.id, newer);
      if (isBefore) found.push({ name, message });
      else isBefore = name === before;
    }
    if (found.length > limit) break;
  }
  const page = found.slice(0, limit);
  const next = found.length > limit ? page.at(-1)?.name : undefined;
  const messages = page.map(({ message }) => message).toReversed();
  return { messages, ...(next === undefined ? {} : { next }) };
}

/** The name of a message in `next`: its id. If newer ones have it too, such as an edited message, their number before it. */
function nameOf(id: string, newer: Map<string, number>): string {
  const count = newer.get(id) ?? 0;
  newer.set(id, count + 1);
  return count === 0 && !/^\d+~/.test(id) ? id : `${count}~${id}`;
}

interface HistoryQuery {
  readonly limit?: number;
  readonly before?: string;
}

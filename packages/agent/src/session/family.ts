import { MillraceError, createInbox } from "@millrace/core";
import { followChildren } from "@millrace/core/reading";
import { sessionId } from "@millrace/core/writing";
import type { Actor, Inbox } from "@millrace/core";
import type { SessionRecord, SessionStore } from "@millrace/core/ports";
import type { FollowedSession } from "@millrace/core/reading";
import { acceptance } from "./acceptance.ts";
import { callAnswerOf } from "./call-answer.ts";
import type { Acceptance, Sent } from "./input.ts";
import { brokenPort } from "./port-errors.ts";
import type { SessionHost } from "./session-host.ts";
import type { ChildSession, SessionWatchOptions } from "./session.ts";

/** Follows a session and its sub-agents' sessions until the iteration ends or the session is closed. */
export async function* watchFamily(
  host: SessionHost,
  { cursors, signal }: SessionWatchOptions = {},
): AsyncGenerator<FollowedSession, void> {
  const { store, log, clock, random, record } = host.options;
  const { uid, sessionId: name } = record;
  const done = new AbortController();
  const over = host.until(() => (host.closed ? true : undefined), done.signal);
  void over.then(() => done.abort());
  const either = signal === undefined ? done.signal : AbortSignal.any([signal, done.signal]);
  const source = { store, log, clock, random, uid, sessionId: name };
  try {
    yield* followChildren({ ...source, cursors, signal: either });
  } finally {
    done.abort();
  }
}

/** Posts to the inbox of the child's session. The child's driver, in any process, reads it from the store. */
export function childOf(host: SessionHost, id: string, actor: Actor | undefined): ChildSession {
  const { store } = host; // waits while the store is away
  const { log, makeId } = host.options;
  const post = (call: (inbox: Inbox) => ReturnType<Inbox["allow"] | Inbox["answer"]>): Sent => {
    const posted = async (): Promise<Acceptance> => {
      try {
        const found = await store.find(sessionId(id));
        if (found === undefined || !(await isBelow(store, found, host.options.record)))
          throw new MillraceError("unknown_session", `this session has no sub-agent ${id}`);
        return await acceptance(call(createInbox({ store, log, makeId, uid: found.uid, actor })));
      } catch (error) {
        const known = MillraceError.is(error) ? error : brokenPort(error);
        return { accepted: false, error: known };
      }
    };
    return { accepted: posted() };
  };
  return {
    allow: (approvalId, options) => post((inbox) => inbox.allow(approvalId, options)),
    deny: (approvalId, reason, options) =>
      post((inbox) => inbox.deny(approvalId, { reason, ...options })),
    answer: (callId, answer, options) =>
      post((inbox) => inbox.answer({ callId }, callAnswerOf(answer), options)),
  };
}

/** True if the session is of a sub-agent of the other one, or of a sub-agent of those. */
async function isBelow(
  store: SessionStore,
  { parent }: SessionRecord,
  above: SessionRecord,
): Promise<boolean> {
  if (parent === undefined) return false;
  if (parent.uid === above.uid) return true;
  const found = await store.find(parent.sessionId);
  return found?.uid === parent.uid && isBelow(store, found, above);
}

import { MillraceError, createInbox } from "@millrace/core";
import { followChildren } from "@millrace/core/reading";
import { sessionId } from "@millrace/core/writing";
import type { Inbox } from "@millrace/core";
import type { FollowedSession } from "@millrace/core/reading";
import { acceptance } from "./acceptance.ts";
import { callAnswerOf } from "./call-answer.ts";
import type { Acceptance, Sent } from "./input.ts";
import { brokenPort } from "./session-host.ts";
import type { SessionHost } from "./session-host.ts";
import type { ChildSession, SessionWatchOptions } from "./session.ts";

/** Follows a session and those of its sub-agents until the watcher leaves or the session is closed. */
export async function* watchFamily(
  host: SessionHost,
  { cursors, signal }: SessionWatchOptions = {},
): AsyncGenerator<FollowedSession, void> {
  const { store, log, clock, record } = host.options;
  const { uid, sessionId: name } = record;
  const done = new AbortController();
  const over = host.until(() => (host.closed ? true : undefined), done.signal);
  void over.then(() => done.abort());
  const either = signal === undefined ? done.signal : AbortSignal.any([signal, done.signal]);
  const source = { store, log, clock, uid, sessionId: name };
  try {
    yield* followChildren({ ...source, cursors, signal: either });
  } finally {
    done.abort();
  }
}

/** Posts to the child's own inbox: a question is answered where it was asked, and driven by its driver. */
export function childOf(host: SessionHost, id: string): ChildSession {
  const { store, log, makeId } = host.options;
  const post = (call: (inbox: Inbox) => ReturnType<Inbox["allow"] | Inbox["answer"]>): Sent => {
    const posted = async (): Promise<Acceptance> => {
      try {
        const found = await store.find(sessionId(id));
        if (found === undefined)
          throw new MillraceError("unknown_session", `there is no session ${id}`);
        return await acceptance(call(createInbox({ store, log, makeId, uid: found.uid })));
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

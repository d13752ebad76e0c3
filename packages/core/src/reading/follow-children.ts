import type { Cursor } from "../event/cursor.ts";
import type { Fact } from "../event/event.ts";
import type { Snapshot } from "../event/snapshot.ts";
import type { SessionId, SessionUid } from "../ids.ts";
import { createChannel } from "../iterate/channel.ts";
import type { Channel } from "../iterate/channel.ts";
import { MillraceError } from "../errors.ts";
import { Following } from "./follow.ts";
import type { FollowOptions } from "./follow.ts";
import { systemRandom } from "../ports/clock.ts";
import { endlessPause } from "../ports/retry.ts";
import { pause } from "./pause.ts";
import type { SessionSource } from "./session-reader.ts";
import type { Followed } from "./catch-up.ts";

/** A session to read with its children, and where to start. */
export interface FollowChildrenOptions extends Omit<FollowOptions, "cursor" | "start"> {
  /**
   * Where the viewer is: the last cursor of each session that it has messages of. A session without
   * one gets a snapshot.
   */
  readonly cursors?: readonly Cursor[] | undefined;
}

/** One message of one of the sessions. The cursor is of that session, which its uid names. */
export interface FollowedSession extends Followed {
  readonly sessionId: SessionId;
}

/**
 * Reads a session as `follow` does, and with it the sessions of its sub-agents, and of theirs: those
 * whose calls run when the viewer joins, and each one that begins later. A question of a sub-agent is
 * a fact of its own session, so it is read there, once; no fact is copied. Each session has its order,
 * and there is none between sessions. A child is left once its run and the call that named it are
 * over. A session that is named and is no child of the one that names it is left out, as in a fork, whose facts name
 * those of its source. A slow viewer makes the readers wait, so at most one message of each session is held.
 * `onConnection` is called for the session itself: its children are read from the same store and log.
 */
export async function* followChildren(
  options: FollowChildrenOptions,
): AsyncGenerator<FollowedSession, void, undefined> {
  const { signal } = options;
  const done = new AbortController();
  const leave = (): void => done.abort();
  signal?.addEventListener("abort", leave, { once: true });
  if (signal?.aborted === true) leave();
  const merged = createChannel<Pending>(Infinity);
  const family = new Family(options, merged, done.signal);
  done.signal.addEventListener("abort", merged.end, { once: true });
  // The parent is followed without end: when it ends, all is over.
  const working = family.join(options).then(merged.end, (error: unknown) => family.fail(error));
  try {
    for await (const { followed, taken } of merged) {
      yield followed;
      taken();
    }
  } finally {
    signal?.removeEventListener("abort", leave);
    leave();
    await working;
  }
}

/** A message on its way to the viewer, and what is called once the viewer comes back for the next. */
interface Pending {
  readonly followed: FollowedSession;
  readonly taken: () => void;
}

/** A sub-agent's session while it is followed. */
interface Child {
  readonly leave: AbortController;
  /** Its run has ended; the call in its parent is settled. With both, following it ends. */
  ended: boolean;
  settled: boolean;
}

class Family {
  readonly #options: FollowChildrenOptions;
  readonly #merged: Channel<Pending>;
  readonly #signal: AbortSignal;
  /** Every child that was ever followed, so that none is followed twice. */
  readonly #children = new Map<SessionId, Child>();

  constructor(options: FollowChildrenOptions, merged: Channel<Pending>, signal: AbortSignal) {
    this.#options = options;
    this.#merged = merged;
    this.#signal = signal;
  }

  /** Ends all with the error, which is a broken contract. */
  fail(error: unknown): void {
    this.#merged.fail(error instanceof Error ? error : new Error(String(error)));
  }

  /** Follows one session until it is left. */
  async join(
    { uid, sessionId }: Pick<SessionSource, "uid" | "sessionId">,
    child?: Child,
  ): Promise<void> {
    const { cursors, onConnection, ...rest } = this.#options;
    const signal = child === undefined ? this.#signal : child.leave.signal;
    const cursor = cursors?.find((each) => each.uid === uid);
    const calls = new Map<string, SessionId>();
    const following = new Following({
      ...rest,
      uid,
      sessionId,
      cursor,
      signal,
      onConnection: child === undefined ? onConnection : undefined,
      // Calls before the cursor are in no message.
      onJoin: ({ executions }) => this.#look(uid, calls, executions),
    });
    for await (const followed of following.messages()) {
      await this.#deliver({ ...followed, sessionId }, signal);
      const { message } = followed;
      if ("uid" in message) this.#lookAt(uid, calls, message, child);
      else if ("n" in message) {
        this.#look(uid, calls, [message]);
        if (child !== undefined && message.type === "run_finished") child.ended = true;
      }
      if (child !== undefined) leaveIfOver(child);
    }
  }

  #lookAt(
    parent: SessionUid,
    calls: Map<string, SessionId>,
    { executions, run, ended }: Snapshot,
    child?: Child,
  ): void {
    this.#look(parent, calls, executions);
    if (child !== undefined && run === undefined && ended !== undefined) child.ended = true;
  }

  /** Finds the calls that run as sessions of their own, and those of them that are over. */
  #look(parent: SessionUid, calls: Map<string, SessionId>, facts: readonly Fact[]): void {
    for (const fact of facts) {
      if (fact.type === "tool_execution_started" && fact.childSessionId !== undefined)
        calls.set(fact.callId, fact.childSessionId);
      if (fact.type === "tool_execution_finished") this.#settle(calls, fact.callId);
    }
    for (const name of calls.values())
      if (!this.#children.has(name)) this.#followChild(name, parent);
  }

  #settle(calls: Map<string, SessionId>, callId: string): void {
    const name = calls.get(callId);
    const child = name === undefined ? undefined : this.#children.get(name);
    calls.delete(callId);
    if (child === undefined) return;
    child.settled = true;
    leaveIfOver(child);
  }

  #followChild(name: SessionId, parent: SessionUid): void {
    const child: Child = { leave: new AbortController(), ended: false, settled: false };
    this.#children.set(name, child);
    const leave = (): void => child.leave.abort();
    this.#signal.addEventListener("abort", leave, { once: true, signal: child.leave.signal });
    if (this.#signal.aborted) leave();
    this.#find(name, parent, child)
      .then((found) => (found === undefined ? undefined : this.join(found, child)))
      .catch((error: unknown) => {
        // A child that was removed before it was read is left, as one that is removed later.
        if (!MillraceError.is(error) || error.code !== "unknown_session") this.fail(error);
      });
  }

  /** Finds the child's session, which was made with the call. Undefined: there is none, or it is another's. */
  async #find(
    name: SessionId,
    parent: SessionUid,
    child: Child,
  ): Promise<Pick<SessionSource, "uid" | "sessionId"> | undefined> {
    const { store, clock, random = systemRandom } = this.#options;
    const { signal } = child.leave;
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        const found = await store.find(name);
        return found?.parent?.uid === parent ? found : undefined;
      } catch (error) {
        if (MillraceError.is(error)) throw error;
        await pause(clock, endlessPause(failures, random()), signal); // the store is away
      }
    }
    return undefined;
  }

  /** Resolves when the viewer has taken the message, or will take no more. */
  #deliver(followed: FollowedSession, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const taken = (): void => {
        signal.removeEventListener("abort", taken);
        resolve();
      };
      signal.addEventListener("abort", taken);
      if (signal.aborted) return taken();
      this.#merged.push({ followed, taken });
    });
  }
}

function leaveIfOver({ ended, settled, leave }: Child): void {
  if (ended && settled) leave.abort();
}

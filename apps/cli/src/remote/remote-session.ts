import { setTimeout as sleep } from "node:timers/promises";
import type { Sent } from "@millrace/agent";
import { narrate } from "@millrace/core";
import type { Cause, Item, Narration, SessionState } from "@millrace/core";
import { apply } from "@millrace/core/reading";
import type { Clock } from "@millrace/core/ports";
import type { Client, ClientSession, SessionChange } from "@millrace/client";
import type { ChatConnection, ChatRun, ChatSession, Past } from "../session/chat-session.ts";
import { newSessionName } from "../session/defaults.ts";
import { narrateSnapshot } from "./narrate-snapshot.ts";

/** What is shown of a session at a server. */
export interface RemoteScreen {
  /** The session as it is found. Called once, as soon as the server has shown it. */
  readonly past: (past: Past) => void;
  readonly show: (narrations: readonly Narration[], time: number, isFact: boolean) => void;
  /** Something else has changed: what waits, or the connection. */
  readonly changed: () => void;
  /** The server shows nothing more of the session. */
  readonly refused: (cause: Cause) => void;
}

/** On leaving, what is on its way to the server has so long to arrive. */
const leaveMs = 2_000;

/**
 * A session at a server, as a chat needs it. Tools run at the server. Messages are narrated as a session in
 * a file narrates its events, so that the screen is the same; after a break longer than the server
 * remembers, the difference of two states is.
 */
export class RemoteSession implements ChatSession {
  readonly #client: Client;
  readonly #session: ClientSession;
  readonly #clock: Clock;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #leave: readonly (() => void)[];
  #state: SessionState | undefined;
  #screen: RemoteScreen | undefined;
  /** By how much the server's clock is ahead of ours, as far as its messages prove it. */
  #ahead: number | undefined;
  #refusal: string | undefined;
  #isUnanswered = false;
  /** A copy goes on with the client. */
  #isLeft = false;
  #onFound: () => unknown = () => undefined;

  constructor(client: Client, session: ClientSession, clock: Clock) {
    this.#client = client;
    this.#session = session;
    this.#clock = clock;
    this.#leave = [
      session.observe((change) => this.#take(change)),
      session.subscribe(() => this.#changed()),
    ];
  }

  get id(): string {
    return this.#session.id;
  }
  get status(): ChatSession["status"] {
    return this.#session.status;
  }
  get stopping(): boolean {
    return this.#session.stopping;
  }
  get queue(): ChatSession["queue"] {
    return this.#session.queue;
  }
  get usage(): ChatSession["usage"] {
    return this.#session.usage;
  }
  get approvals(): readonly unknown[] {
    return this.#session.approvals;
  }
  get run(): ChatRun | undefined {
    return this.#session.run;
  }
  get transcript(): readonly Item[] {
    return [...(this.#state?.items ?? [])];
  }
  get connection(): ChatConnection {
    return this.#session.connection;
  }
  /** Why the server shows nothing. A run that failed is none. */
  get refusal(): Cause | undefined {
    const { error, lastRun } = this.#session;
    const ofRun = lastRun?.outcome === "failed" ? lastRun.cause : undefined;
    return error === ofRun ? undefined : error;
  }
  /** Whether the server has shown the session, or that there is none. */
  get isKnown(): boolean {
    return !this.#session.loading;
  }
  get isMissing(): boolean {
    return this.isKnown && this.#state === undefined && this.refusal === undefined;
  }
  /** Whether something that was sent had no answer when the session was left. */
  get isUnanswered(): boolean {
    return this.#isUnanswered;
  }

  readonly send: ChatSession["send"] = (text, options) => {
    const run = this.#session.send(text, options);
    this.#follow(run);
    return run;
  };
  readonly steer = (text: string): Sent => this.#follow(this.#session.steer(text));
  readonly followUp = (text: string): Sent => this.#follow(this.#session.followUp(text));
  readonly takeBack = (inputId: string): Sent => this.#follow(this.#session.takeBack(inputId));
  readonly allow = (approvalId: string): Sent => this.#follow(this.#session.allow(approvalId));
  readonly deny = (approvalId: string, reason?: string): Sent =>
    this.#follow(this.#session.deny(approvalId, reason));
  readonly abort = (reason?: string): Sent => this.#follow(this.#session.abort(reason));

  /** Goes on in a copy, on the same screen: what the copy holds is there already. */
  readonly fork = async (itemId: string): Promise<ChatSession> => {
    const name = newSessionName(this.#clock.now(), Math.random);
    const made = await this.#session.fork(itemId, name);
    const copy = new RemoteSession(this.#client, made, this.#clock);
    await copy.found(leaveMs);
    copy.#screen = this.#screen;
    this.#isLeft = true;
    return copy;
  };

  /** Waits until the server has shown the session, or that there is none, or has refused; at most so long. */
  async found(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onFound = () => (this.isKnown || this.refusal !== undefined) && resolve();
    const timer = setTimeout(resolve, ms);
    this.#onFound();
    await promise;
    clearTimeout(timer);
  }

  /** Shows the session from now on, beginning with what it is. */
  connect(screen: RemoteScreen): void {
    this.#screen = screen;
    if (this.#state !== undefined) this.#begin(this.#state);
    this.#changed();
  }

  /** Leaves the session; a run goes on. Waits a little for what is on its way, such as a stop. */
  readonly close = async (): Promise<void> => {
    const given = new AbortController();
    const answers = Promise.allSettled(this.#underWay).then(() => given.abort());
    await Promise.race([answers, sleep(leaveMs, undefined, given).catch(() => undefined)]);
    this.#isUnanswered = this.#underWay.size > 0;
    for (const leave of this.#leave) leave();
    if (!this.#isLeft) this.#client.close();
  };

  #follow<Each extends Sent>(sent: Each): Each {
    const { accepted } = sent;
    this.#underWay.add(accepted);
    void accepted.finally(() => this.#underWay.delete(accepted));
    return sent;
  }

  #take({ before, state, messages }: SessionChange): void {
    const known = before ?? this.#state;
    this.#state = state;
    if (this.#screen === undefined) return;
    if (messages.length === 0) {
      const isSame = known?.uid === state.uid;
      if (isSame) this.#screen.show(narrateSnapshot(known, state), this.#clock.now(), true);
      else this.#begin(state);
    }
    let reached = known;
    for (const message of messages) {
      if (reached === undefined) return; // messages follow a state
      const time = this.#here(message.time);
      this.#screen.show(narrate(reached, message), time, "n" in message);
      reached = apply(reached, message).state;
    }
  }

  /** A session that is shown for the first time: what is finished, then what is being written. */
  #begin(state: SessionState): void {
    const nothing = { ...state, lanes: [], executions: [] };
    this.#screen?.past({ items: [...state.items], earlier: state.earlier?.count ?? 0 });
    this.#screen?.show(narrateSnapshot(nothing, state), this.#clock.now(), true);
  }

  #changed(): void {
    const { refusal } = this;
    this.#onFound();
    if (this.#screen === undefined) return;
    if (refusal !== undefined && refusal.code !== this.#refusal) this.#screen.refused(refusal);
    this.#refusal = refusal?.code;
    this.#screen.changed();
  }

  /** A time of the server by the clock of this machine. */
  #here(time: number): number {
    this.#ahead = Math.max(this.#ahead ?? -Infinity, time - this.#clock.now());
    return time - this.#ahead;
  }
}

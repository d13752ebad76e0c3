import { MillraceError } from "@millrace/core";
import type { Clock, DueSession } from "@millrace/core/ports";
import type { Opened } from "../session/open.ts";
import type { SessionHost } from "../session/session-host.ts";
import type { LoopSettings } from "../definition/loop-settings.ts";
import type { Standing } from "../loop/state.ts";

export interface WorkerSessionOptions {
  readonly session: DueSession;
  /** Opens the session with its driver. Undefined: it is gone, or it has no agent here. */
  readonly open: (signal: AbortSignal) => Promise<Opened | undefined>;
  readonly clock: Clock;
  /** How long a session without work stays open, so that a prompt that follows is driven at once. */
  readonly idleMs: number;
  /** The name of this worker in the store's index. */
  readonly driver: string;
  /** Called when the session is open without work, and when work comes. */
  readonly onIdle: (idle: boolean) => void;
  /** Called once if the store shows that this worker has taken the session over from another driver. */
  readonly onTakenOver: (from: string) => void;
}

/** Why a worker no longer has a session open. */
export type WorkerSessionEnd =
  /** There was nothing to do at this head. */
  | { readonly why: "idle"; readonly head: number }
  /** `leave` was called. */
  | { readonly why: "left" }
  | { readonly why: "failed"; readonly error: unknown };

/** The pause before the index is read again whose store was away. */
const lookAgainMs = 500;

/** One session that a worker has open. Its driver, inside the host, does the work. */
export class WorkerSession {
  readonly session: DueSession;
  readonly #options: WorkerSessionOptions;
  readonly #leaving = new AbortController();
  #host: SessionHost | undefined;

  constructor(options: WorkerSessionOptions) {
    this.#options = options;
    this.session = options.session;
  }

  /** The number of facts that this process has of the session. Undefined while it is being opened. */
  get head(): number | undefined {
    return this.#host?.journal.state.head;
  }

  /** True unless the session is idle, or its run waits for a person. */
  get isWorking(): boolean {
    const host = this.#host;
    if (host === undefined) return true;
    return !isIdle(host.journal.standing) && !this.#waits(host);
  }

  /** True while the session is open without work. */
  get isIdle(): boolean {
    return this.#host !== undefined && isIdle(this.#host.journal.standing);
  }

  /** Closes the session. A run in progress is released, so that another driver goes on with it at once. */
  leave(): void {
    this.#leaving.abort();
  }

  /** Resolves when no turn is interrupted by closing the session, or when the signal is aborted. */
  async turnEnds(signal: AbortSignal): Promise<void> {
    const host = this.#host;
    if (host === undefined) return;
    const then = host.journal.standing;
    const isOver = (): boolean => turnIsOver(then, host.journal.standing) || this.#waits(host);
    await host.until(() => (isOver() ? true : undefined), signal);
  }

  /** Opens the session, waits until it is idle or left, and closes it. Never rejects. */
  async run(): Promise<WorkerSessionEnd> {
    try {
      const opened = await this.#options.open(this.#leaving.signal);
      if (opened === undefined) return { why: "idle", head: this.session.head };
      this.#host = opened.host;
      try {
        void this.#watchTakeover(opened.host);
        return await this.#untilDone(opened.host);
      } finally {
        await opened.close();
      }
    } catch (error) {
      if (this.#leaving.signal.aborted) return { why: "left" };
      return { why: "failed", error };
    }
  }

  async #untilDone(host: SessionHost): Promise<WorkerSessionEnd> {
    const { clock, idleMs } = this.#options;
    const { signal } = this.#leaving;
    const idle = (): boolean => isIdle(host.journal.standing);
    for (;;) {
      await host.until(() => (idle() ? true : undefined), signal);
      const waited = new AbortController();
      const either = AbortSignal.any([signal, waited.signal]);
      if (idle()) {
        this.#options.onIdle(true);
        const busy = host.until(() => (idle() ? undefined : true), either);
        await Promise.race([busy, clock.sleep(idleMs, either)]);
        waited.abort();
        if (!idle()) this.#options.onIdle(false);
      }
      const error = host.over();
      // A session that was removed has no work any more.
      if (MillraceError.is(error) && error.code === "unknown_session")
        return { why: "idle", head: host.journal.state.head };
      if (error !== undefined) return { why: "failed", error };
      if (signal.aborted) return { why: "left" };
      if (idle()) return { why: "idle", head: host.journal.state.head };
    }
  }

  /** Waits for a claim above the listed one. Whose claim it is, only the store's index shows: one read for each takeover. */
  async #watchTakeover(host: SessionHost): Promise<void> {
    const { driver, clock, onTakenOver } = this.#options;
    const { uid, incarnation, sign } = this.session;
    const { signal } = this.#leaving;
    if (sign === undefined || sign.driver === driver) return;
    const isClaimed = (): true | undefined =>
      host.journal.standing.incarnation > incarnation ? true : undefined;
    if ((await host.until(isClaimed, signal)) === undefined) return;
    while (!signal.aborted) {
      try {
        const claimed = await host.options.store.drivers?.find(uid);
        if (claimed?.driver === driver) onTakenOver(sign.driver);
        return;
      } catch {
        await clock.sleep(lookAgainMs, signal); // the store is away
      }
    }
  }

  #waits(host: SessionHost): boolean {
    return waitsForPeople(host.journal.standing, host.options.agent.settings);
  }
}

/** True if no run is on and no input that waits may begin one. */
function isIdle({ run, queue }: Standing): boolean {
  return run === undefined && !queue.some(({ kind, held }) => kind !== "answer" && !held);
}

/** True if the run goes on only after a person, or a client, has answered every open call. */
function waitsForPeople({ run }: Standing, { tools }: LoopSettings): boolean {
  const open = run?.turn?.reply?.calls.filter(({ settled }) => !settled) ?? [];
  const isAsked = ({ tool, approval, started }: (typeof open)[number]): boolean =>
    (approval !== undefined && approval.answer === undefined) ||
    (tools[tool]?.client === true && started !== undefined);
  return run?.aborting !== true && open.length > 0 && open.every(isAsked);
}

/** True if the turn that was on then is over, so that closing the session interrupts no reply and no tool. */
function turnIsOver(then: Standing, { run }: Standing): boolean {
  const turn = then.run?.turn;
  const now = run?.turn;
  return (
    turn === undefined || now === undefined || now.turnId !== turn.turnId || now.stop !== undefined
  );
}

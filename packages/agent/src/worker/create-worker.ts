import { MillraceError } from "@millrace/core";
import type { SessionId, SessionUid } from "@millrace/core";
import { endlessPause } from "@millrace/core/model";
import type { Clock, DriverIndex, DueSession } from "@millrace/core/ports";
import { systemClock, systemRandom } from "@millrace/core/memory";
import { redactError } from "@millrace/core/secrets";
import { lifeOf } from "../drive/life.ts";
import type { DriverLife } from "../drive/life.ts";
import type { Opened } from "../session/open.ts";
import { Admission, NotAdmitted } from "./admission.ts";
import { WorkerSession } from "./worker-session.ts";
import type { WorkerSessionEnd } from "./worker-session.ts";
import { checkWorkerOptions } from "./check-options.ts";
import { choose } from "./choose.ts";
import { Failures } from "./failures.ts";
import { LostDrivers } from "./lost-drivers.ts";
import { SessionOpener } from "./open-session.ts";
import type { PoisonedSession, Worker, WorkerEvent, WorkerOptions } from "./worker.ts";
import process from "node:process";

/** How often the index is read, at most. Shorter by up to a fifth, so that workers do not read together. */
const lookMs = 500;
const leastPauseMs = 50;
/** The longest pause while the store is away: a worker takes up its work soon after the store is back. */
const longestLookMs = 1_000;
/** How long a worker that stops waits for slots to be given back. Later they are free by their own rules. */
const leaveMs = 2_000;
/** How many sessions are listed beyond those that this worker does not take. */
const listedMore = 100;

/**
 * Makes a worker: a process that finds the sessions with work in the index of their store and drives
 * them. It takes inputs that wait, and runs whose driver is dead or has released them; several workers
 * share a store without knowing each other. `run` starts it. Throws `invalid_definition` if the store has
 * no index of drivers.
 */
export async function createWorker(options: WorkerOptions): Promise<Worker> {
  checkWorkerOptions(options, createWorker);
  const drivers = options.index ?? options.store.drivers;
  if (drivers === undefined) {
    const why = "a store that one process at a time may write has nothing to share";
    throw new MillraceError("invalid_definition", `the store has no index of drivers: ${why}`);
  }
  const worker = new SessionWorker(options, drivers);
  return {
    name: worker.name,
    run: (how) => worker.run(how?.signals === true),
    shutdown: (how) => worker.shutdown(how?.drainMs),
    wake: (session) => worker.wake(session),
    sessions: () => worker.sessions(),
    poisoned: () => worker.poisoned(),
    [Symbol.asyncDispose]: () => worker.shutdown(),
  };
}

class SessionWorker {
  readonly #options: WorkerOptions;
  readonly #drivers: DriverIndex;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #life: DriverLife;
  readonly #opener: SessionOpener;
  readonly #failures: Failures;
  readonly #admission: Admission;
  readonly #open = new Map<
    SessionUid,
    { readonly at: WorkerSession; readonly ended: Promise<void> }
  >();
  /** Sessions that are listed and had nothing to do, by the head at which that was so. */
  readonly #done = new Map<SessionUid, number>();
  /** Sessions that were woken while they were open here: they may just be closing. */
  readonly #woken = new Map<SessionUid, DueSession>();
  readonly #closing = new AbortController();
  /** Aborted to end the wait for turns in progress. */
  readonly #hurry = new AbortController();
  #lookSoon = new AbortController();
  #passed = 0;
  #running: Promise<void> | undefined;
  #shutdown: Promise<void> | undefined;

  constructor(options: WorkerOptions, drivers: DriverIndex) {
    const { store, clock = systemClock, random = systemRandom, poisonAfter = 5 } = options;
    this.#options = options;
    this.#drivers = drivers;
    this.#clock = clock;
    this.#random = random;
    this.#life = lifeOf({ store, clock, random });
    this.#opener = new SessionOpener({ ...options, clock, random }, this.#life);
    this.#failures = new Failures(poisonAfter, () => clock.monotonic(), random);
    this.#admission = new Admission(
      { ...options, monotonic: () => clock.monotonic(), random, driver: this.name },
      () => this.#openSessions(),
    );
  }

  get name(): string {
    return this.#life.name;
  }

  sessions(): readonly SessionId[] {
    return [...this.#open.values()].map(({ at }) => at.session.sessionId);
  }

  poisoned(): readonly PoisonedSession[] {
    return this.#failures.poisoned();
  }

  wake({ isRunning = false, ...session }: Parameters<Worker["wake"]>[0]): void {
    const { uid } = session;
    if (this.#closing.signal.aborted) return;
    if (this.#open.has(uid)) this.#woken.set(uid, session);
    else if (!isRunning && choose([session], this.#checks, this.#room()).take.length > 0)
      this.#take(session);
  }

  async run(signals: boolean): Promise<void> {
    const ignore = signals ? onStopSignal(() => this.#signalled()) : undefined;
    try {
      this.#running ??= this.#lookForWork();
      await this.#running;
      await this.shutdown();
    } finally {
      ignore?.();
    }
  }

  shutdown(drainMs: number = this.#options.drainMs ?? 30_000): Promise<void> {
    this.#shutdown ??= this.#drain(drainMs);
    return this.#shutdown;
  }

  #signalled(): void {
    if (this.#closing.signal.aborted) this.#hurry.abort();
    void this.shutdown();
  }

  async #drain(drainMs: number): Promise<void> {
    this.#closing.abort();
    await this.#running; // what it takes last is closed too
    const open = [...this.#open.values()];
    this.#report({ type: "shutdown", open: open.length });
    const done = new AbortController();
    const over = AbortSignal.any([this.#hurry.signal, done.signal]);
    const turns = open.map(async ({ at }) => {
      await at.turnEnds(over);
      at.leave();
    });
    await Promise.race([Promise.all(turns), this.#clock.sleep(drainMs, over)]);
    done.abort();
    await Promise.all(open.map(({ ended }) => ended));
    const left = new AbortController();
    const late = this.#clock.sleep(leaveMs, left.signal);
    await Promise.race([this.#admission.allLeft(), late]);
    left.abort();
  }

  async #lookForWork(): Promise<void> {
    const { signal } = this.#closing;
    for (let failures = 0; !signal.aborted;) {
      try {
        const next = this.#clock.monotonic() + lookMs * (1 - this.#random() / 5);
        await this.#look();
        failures = 0;
        const either = AbortSignal.any([signal, this.#lookSoon.signal]);
        // A slow answer must not stretch the time between two reads: a gap starts observations anew.
        await this.#clock.sleep(Math.max(leastPauseMs, next - this.#clock.monotonic()), either);
      } catch (error) {
        if (failures === 0) this.#report({ type: "store_away", error: redactError(error) });
        failures += 1;
        await this.#clock.sleep(endlessPause(failures, this.#random(), longestLookMs), signal);
      }
    }
  }

  /** Reads the index once, and takes what is free. Costs one statement, whatever the number of workers. */
  async #look(): Promise<void> {
    if (this.#lookSoon.signal.aborted) this.#lookSoon = new AbortController();
    const sentAt = this.#clock.monotonic();
    const due = await this.#drivers.due({ limit: listedMore + this.#passed });
    if (this.#closing.signal.aborted) return;
    const signs = due.flatMap((session) => {
      const { sign } = session;
      return sign === undefined ? [] : [{ ...session, sign }];
    });
    this.#life.noteSigns(signs, sentAt);
    const listed = new Set(due.map(({ uid }) => uid));
    for (const uid of this.#done.keys()) if (!listed.has(uid)) this.#done.delete(uid);
    this.#failures.keepListed(listed);
    this.#admission.keepListed(listed);
    this.#admission.review();
    for (const session of due) this.#leaveIfDriven(session);
    const { take, passed } = choose(due, this.#checks, this.#room());
    this.#passed = passed;
    for (const session of take) this.#take(session);
  }

  #room(): number {
    const { capacity = 100 } = this.#options;
    return capacity - this.#openSessions().filter((at) => at.isWorking).length;
  }

  #openSessions(): readonly WorkerSession[] {
    return [...this.#open.values()].map(({ at }) => at);
  }

  readonly #checks = {
    isOpen: ({ uid }: DueSession) => this.#open.has(uid),
    isDone: ({ uid, head }: DueSession) => this.#done.get(uid) === head,
    isBackedOff: (session: DueSession) =>
      this.#failures.isBackedOff(session) || this.#admission.isHeldBack(session),
    isDriven: (session: DueSession) => this.#life.lives(session.sign, session),
  };

  /** Closes a session that is open here while another driver has its run: it lost the race for an input. */
  #leaveIfDriven(session: DueSession): void {
    const open = this.#open.get(session.uid);
    // A claim is a fact: at an equal head the listing is not older than what this process has.
    if (open?.at.head !== session.head || session.run === undefined) return;
    // The other driver has shown since that it lives: by its claim, or by a beat.
    if (isNewSign(open.at.session, session) && this.#life.lives(session.sign, session))
      open.at.leave();
  }

  #take(session: DueSession): void {
    const { uid, sessionId, tenant, sign, run } = session;
    const { idleMs = 5_000 } = this.#options;
    const open = async (signal: AbortSignal): Promise<Opened | undefined> => {
      await this.#refuseIfLost(session, signal);
      return await this.#opener.open(session, signal, (record) => this.#admission.enter(record));
    };
    const at = new WorkerSession({
      session,
      open,
      clock: this.#clock,
      idleMs,
      driver: this.name,
      onIdle: (idle) => this.#admission.idles(uid, idle),
      onTakenOver: (from) => this.#admission.supersede(uid, from),
    });
    const after = run === undefined ? undefined : sign?.driver;
    this.#report({ type: "session_taken", sessionId, uid, tenant, after });
    const ended = at.run().then((end) => this.#ended(session, end));
    this.#open.set(uid, { at, ended });
  }

  /** Throws if the run keeps ending its drivers and was not put off for that yet. */
  async #refuseIfLost(session: DueSession, signal: AbortSignal): Promise<void> {
    const { run } = session;
    const { poisonAfter = 5 } = this.#options;
    if (run === undefined || this.#failures.hasWaited(session)) return;
    const lost = await this.#opener.lostDrivers(session, signal);
    if (lost >= poisonAfter) throw new LostDrivers(run, lost);
  }

  #ended(session: DueSession, end: WorkerSessionEnd): void {
    const { uid, sessionId, tenant } = session;
    this.#open.delete(uid);
    this.#admission.left(uid);
    this.#wakeAgain(uid, end);
    const of = { uid, sessionId, tenant };
    if (end.why === "failed" && end.error instanceof NotAdmitted) return;
    if (end.why === "failed") {
      const { tries, nextTryInMs, poisoned, error } = this.#failures.add(session, end.error);
      this.#report({ type: "session_failed", ...of, error, tries, nextTryInMs, poisoned });
      return;
    }
    if (end.why === "idle") {
      this.#failures.clear(uid);
      this.#done.set(uid, end.head);
    }
    const left = this.#closing.signal.aborted ? "shutdown" : "driven_elsewhere";
    this.#report({ type: "session_closed", ...of, why: end.why === "idle" ? "idle" : left });
  }

  /** An input that came while the session was being closed is not seen by its driver. */
  #wakeAgain(uid: SessionUid, end: WorkerSessionEnd): void {
    const woken = this.#woken.get(uid);
    this.#woken.delete(uid);
    if (woken !== undefined && end.why === "idle" && woken.head > end.head) this.wake(woken);
    else if (this.#admission.holdsBack) this.#lookSoon.abort();
  }

  #report(event: WorkerEvent): void {
    try {
      this.#options.onEvent?.(event);
    } catch {
      // An observer that fails does not stop the worker.
    }
  }
}

/** True if the session was claimed, or its driver has beaten, since it was listed before. */
function isNewSign(before: DueSession, now: DueSession): boolean {
  return before.incarnation !== now.incarnation || before.sign?.beat !== now.sign?.beat;
}

const signals = ["SIGTERM", "SIGINT"] as const;

/** Calls back at each signal that asks this process to stop, until the result is called. */
function onStopSignal(call: () => void): () => void {
  for (const signal of signals) process.on(signal, call);
  return () => {
    for (const signal of signals) process.off(signal, call);
  };
}

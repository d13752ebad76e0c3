import { createInbox, MillraceError, project } from "@millrace/core";
import type { Fact, Inbox, InputId, RunEvent, RunId, View } from "@millrace/core";
import type { FactOf, InboxOptions, KnownStart } from "@millrace/core/writing";
import type { Clock, EventLog, MakeId, SessionRecord, SessionStore } from "@millrace/core/ports";
import type { OpenLane } from "@millrace/core/reading";
import { Driver } from "../drive/driver.ts";
import type { Blueprint } from "../definition/blueprint.ts";
import type { WorkHost } from "../work/host.ts";
import { callsToRemember } from "../loop/limits.ts";
import type { Observer } from "../definition/observer.ts";
import type { Schema } from "../schema/schema.ts";
import type { Allowance, AskMode } from "../definition/tool-host.ts";
import type { SessionInfo } from "../definition/tool.ts";
import { holdSession, releaseSession } from "./hold.ts";
import { SessionJournal } from "./journal.ts";
import { Observers } from "./observers.ts";
import { readRun } from "./read-run.ts";
import type { Watched } from "./watch.ts";

export interface HostOptions {
  readonly record: SessionRecord;
  readonly agent: Blueprint;
  readonly observers: readonly Observer[];
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly ask: AskMode;
  /** `false`: this process sends and reads, and another process drives. */
  readonly drive: boolean;
  readonly allowance?: Allowance | undefined;
  readonly depth?: number | undefined;
}

/** Options of a run that can't be stored with its input. Only the process that sent it has them. */
export interface SenderOptions {
  readonly output: Schema | undefined;
  readonly ask: AskMode | undefined;
}

/** How often the head is read while a run is awaited, in case an announcement was lost. */
const pollMs = 15_000;

/**
 * One open session in this process: its inbox, its journal, its observers and, if it is driven here,
 * its driver. `open.ts` opens one for each session and shares it; `Session`, `Run` and sub-agents are
 * views of it.
 *
 * Every new fact goes through `onFact`, which calls observers, wakes the driver and wakes all `until`
 * calls. If the store or the log fails for good, `over` returns the error and nothing runs any more.
 */
export class SessionHost {
  readonly options: HostOptions;
  readonly journal: SessionJournal;
  readonly inbox: Inbox;
  readonly info: SessionInfo;
  readonly observers: Observers;
  readonly #lanes = new Map<number, () => OpenLane>();
  readonly #senderOptions = new Map<RunId, SenderOptions>();
  readonly #waiting = new Set<() => void>();
  readonly #closing = new AbortController();
  #driver: Driver | undefined;
  #broken: MillraceError | undefined;

  private constructor(options: HostOptions, journal: SessionJournal) {
    this.options = options;
    this.journal = journal;
    this.inbox = createInbox(this.#inboxOptions());
    this.info = infoOf(options.record);
    this.observers = new Observers(options.observers);
  }

  /** Opens the session. Throws `session_locked` if another process holds it, and errors of the ports. */
  static async open(options: HostOptions): Promise<SessionHost> {
    const { record, store, log } = options;
    const { uid, sessionId } = record;
    let host: SessionHost | undefined;
    const onFact = (fact: Fact): void => host?.onFact(fact);
    await holdSession(store, uid);
    const closing = new AbortController();
    try {
      // Subscribe before reading, so that no fact between the two is missed.
      log.setKey?.(uid, await store.key(uid));
      const heads = await log.heads(uid, { signal: closing.signal });
      const remember = callsToRemember(options.agent.settings);
      const journal = await SessionJournal.open({ store, log, uid, sessionId, onFact, remember });
      host = new SessionHost(options, journal);
      host.#closing.signal.addEventListener("abort", () => closing.abort(), { once: true });
      if (options.drive) host.#drive();
      host.#listen(heads).catch(() => undefined); // `polling` still reads the head every 15 s
      return host;
    } catch (error) {
      closing.abort();
      await releaseSession(store, uid);
      throw error;
    }
  }

  get closed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** The session as a user sees it: the stored state, and the drafts of lanes that this process writes. */
  view(): View {
    const lanes = [...this.#lanes.values()].map((lane) => lane());
    return project({ ...this.journal.state, lanes: lanes.toSorted((a, b) => a.lane - b.lane) });
  }

  /** The fact that ended the run, if it has ended. */
  ended(runId: RunId): FactOf<"run_finished"> | undefined {
    return this.journal.runs.get(runId)?.ended;
  }

  /** Reads a run that this process has not seen, or not for long. Without an effect if the store fails. */
  async recall(run: Watched): Promise<void> {
    const { store, record } = this.options;
    const { runs } = this.journal;
    if (runs.knows(run)) return;
    try {
      await this.journal.catchUp();
      const read = runs.knows(run) ? undefined : await readRun(store, record.uid, run);
      if (read !== undefined) runs.adopt(read);
    } catch {
      // The store is away. What it has of the run is read when the next facts come.
    }
  }

  /** True if the input left the queue without becoming an item. */
  takenBack(inputId: InputId): boolean {
    return this.journal.runs.takenBack(inputId);
  }

  /** The error of a host that no longer works: the store or the log failed, or the session was closed. */
  over(): MillraceError | undefined {
    if (this.#broken !== undefined) return this.#broken;
    if (!this.closed) return undefined;
    return new MillraceError("closed", "the session was closed; open it again to go on");
  }

  /** Keeps the options of a run until it ends. Called before its input is sent. */
  setSenderOptions(runId: RunId, options: SenderOptions): void {
    this.#senderOptions.set(runId, options);
  }

  /**
   * Waits until `pick` returns a value, and returns it. `pick` is called after each change of the
   * session. Returns undefined if the session is closed, the store fails or `signal` is aborted first.
   */
  async until<T>(pick: () => T | undefined, signal?: AbortSignal): Promise<T | undefined> {
    for (;;) {
      const picked = pick();
      if (picked !== undefined || signal?.aborted === true || this.over() !== undefined) {
        return picked;
      }
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiting.delete(wake);
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        this.#waiting.add(wake);
        signal?.addEventListener("abort", wake, { once: true });
      });
    }
  }

  /** Reads the head every 15 s until the promise settles, in case an announcement is lost. */
  async polling<T>(work: Promise<T>): Promise<T> {
    const done = new AbortController();
    const poll = async (): Promise<void> => {
      for (;;) {
        await this.options.clock.sleep(pollMs, done.signal);
        if (done.signal.aborted) return;
        await this.#readHead().catch(() => undefined); // read again at the next poll
      }
    };
    void poll();
    try {
      return await work;
    } finally {
      done.abort();
    }
  }

  async #readHead(): Promise<void> {
    const { store, record } = this.options;
    this.journal.announcedUpTo(await store.head(record.uid));
  }

  /** Called by the driver if the store or the log fails. All waiting calls end with the error. */
  fail(error: unknown): void {
    this.#broken ??= brokenPort(error);
    this.#notify();
  }

  /** Called by the journal for each new fact, in order. */
  onFact(fact: Fact): void {
    if (fact.type === "run_finished") this.#runEnded(fact.runId);
    this.#emit(fact);
    if (fact.type === "approval_requested") this.#askApprover(fact);
    this.#driver?.wake();
    this.#notify();
  }

  /** Closes the driver, waits for announcements, and unlocks the session. Takes up to 5 s. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.#closing.abort();
    await this.#driver?.close();
    await this.inbox.announced();
    await this.journal.announced();
    await this.journal.checkpointKept();
    this.#notify();
    await releaseSession(this.options.store, this.options.record.uid);
  }

  #drive(): void {
    this.#driver = new Driver(this.#workHost(), (error) => this.fail(error));
  }

  /** Adds accepted facts to the journal before the sender gets its answer. The inbox announces them. */
  #inboxOptions(): InboxOptions {
    const { record, store, log, makeId } = this.options;
    const { uid } = record;
    return {
      uid,
      log,
      makeId,
      start: () => this.#knownStart(),
      store: {
        accept: async (_, key, body) => {
          const over = this.over();
          if (over !== undefined) throw over;
          const answer = await store.accept(uid, key, body);
          if (answer.outcome === "accepted") this.journal.accepted(answer.facts);
          return answer;
        },
        key: () => store.key(uid),
        read: (_, options) => store.read(uid, options),
      },
    };
  }

  /** What this host has read already. Nothing if it does not know since when the run is on. */
  async #knownStart(): Promise<KnownStart | undefined> {
    await this.journal.catchUp();
    const { state, runs } = this.journal;
    const since = state.run === undefined ? 0 : runs.get(state.run.runId)?.since;
    if (since === undefined) return undefined;
    return { state, since, acceptedAt: (inputId) => runs.acceptedAt(inputId) };
  }

  #workHost(): WorkHost {
    const { record, agent, store, log, clock, makeId, allowance, depth = 0, ask } = this.options;
    const { uid, sessionId } = record;
    return {
      uid,
      sessionId,
      info: this.info,
      store,
      log,
      clock,
      makeId,
      random: Math.random,
      agent,
      journal: this.journal,
      observed: (runId) => this.observers.has(runId),
      emit: (event) => this.#emit(event),
      runOptions: (runId) => ({ output: this.#senderOptions.get(runId)?.output }),
      allowance,
      depth,
      ask,
      lanes: this.#lanes,
    };
  }

  /** Passes announced heads to the journal, which reads the facts from the store. */
  async #listen(heads: AsyncIterable<number>): Promise<void> {
    for await (const head of heads) this.journal.announcedUpTo(head);
  }

  #runEnded(runId: RunId): void {
    this.#senderOptions.delete(runId);
    // After the facts of the same call, and off the path of the run's result.
    if (this.#driver === undefined) return;
    setImmediate(() => (this.closed ? undefined : this.journal.keepCheckpoint()));
  }

  /**
   * Answers an approval request by the `ask` option of its run, or of the session. With `wait` it does
   * nothing: a person answers through the inbox.
   */
  #askApprover({
    approvalId,
    callId,
    tool,
    input,
    hash,
    runId,
  }: FactOf<"approval_requested">): void {
    const ask = this.#senderOptions.get(runId)?.ask ?? this.options.ask;
    if (ask === "wait") return;
    const answer = async (): Promise<void> => {
      const approval = { id: approvalId, callId, tool, input, hash };
      if (ask === "deny") await this.inbox.deny(approvalId, { reason: "there is nobody to ask" });
      else if ((await askSafely(() => ask(approval))) === "allow") {
        await this.inbox.allow(approvalId, { hash });
      } else await this.inbox.deny(approvalId);
    };
    void answer();
  }

  #emit(event: RunEvent): void {
    this.observers.call(event, this.journal.state.run?.runId);
  }

  #notify(): void {
    for (const wake of this.#waiting) wake();
  }
}

/** Denies if the callback throws or returns anything but `allow`. */
async function askSafely(
  ask: () => "allow" | "deny" | Promise<"allow" | "deny">,
): Promise<"allow" | "deny"> {
  try {
    return (await ask()) === "allow" ? "allow" : "deny";
  } catch {
    return "deny";
  }
}

function infoOf({ sessionId, metadata }: SessionRecord): SessionInfo {
  const { tenant, user } = metadata;
  return {
    id: sessionId,
    tenant: typeof tenant === "string" ? tenant : "local",
    user: typeof user === "string" ? user : "local",
    metadata,
  };
}

/** Wraps an error of a store or a log for users. A `MillraceError` stays as it is. */
export function brokenPort(error: unknown): MillraceError {
  if (MillraceError.is(error)) return error;
  const message = `the store or the log failed: ${error instanceof Error ? error.message : String(error)}`;
  return new MillraceError("broken_port", message, { cause: error });
}

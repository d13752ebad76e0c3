import { sha256 } from "../tool/hash.ts";
import { createInbox, MillraceError, project } from "@millrace/core";
import type {
  Fact,
  Inbox,
  InputId,
  RunEvent,
  RunId,
  SessionConnection,
  View,
} from "@millrace/core";
import type { FactOf, InboxOptions, InboxStart } from "@millrace/core/writing";
import { systemRandom } from "@millrace/core/memory";
import type { AcceptOutcome, PeopleFact, SessionStore } from "@millrace/core/ports";
import type { OpenLane } from "@millrace/core/reading";
import { redactedMessage } from "@millrace/core/secrets";
import { Driver } from "../drive/driver.ts";
import type { WorkHost } from "../work/host.ts";
import { retryingStore } from "../work/retrying-store.ts";
import { callsToRemember } from "../loop/limits.ts";
import { runIdOf } from "../loop/ids.ts";
import type { SessionInfo } from "../definition/tool.ts";
import { askApprover } from "./ask-approver.ts";
import { FactSource } from "./fact-source.ts";
import { holdSession, releaseSession } from "./hold.ts";
import type { HostOptions, MakeDriver, SenderOptions, LocalDriver } from "./host-options.ts";
import { SessionJournal } from "./journal.ts";
import { Observers } from "./observers.ts";
import { brokenPort, throwIfRefused, unsent, unstored } from "./port-errors.ts";
import { readRun } from "./read-run.ts";
import { noticesOf } from "../work/secret-notices.ts";
import { infoOf } from "./session-info.ts";
import type { Watched } from "./watch.ts";

/**
 * One open session in this process: its inbox, its journal, its observers and, if it is driven here,
 * its driver. `open.ts` opens one for each session and shares it; `Session`, `Run` and sub-agents are
 * views of it.
 *
 * Every new fact goes through `onFact`, which calls observers, wakes the driver and wakes all `until`
 * calls. While the store or the log is away the host waits, see `connection`. If one of them breaks its
 * contract, or the session is removed, `over` returns the error and nothing runs any more.
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
  /** The store, with calls that wait while it is away. */
  readonly store: SessionStore;
  readonly #source: FactSource;
  readonly #conversationKey: string;
  #driver: LocalDriver | undefined;
  #broken: MillraceError | undefined;
  /** Set while the store's disk refuses what this process has to store. Work goes on when it takes that. */
  stalled: MillraceError | undefined;
  #closed = false;

  private constructor(options: HostOptions, journal: SessionJournal, ports: HostPorts) {
    this.options = options;
    this.journal = journal;
    this.store = ports.store;
    this.#source = ports.source;
    this.#conversationKey = ports.conversationKey;
    this.inbox = createInbox(this.#inboxOptions());
    this.info = infoOf(options.record);
    this.observers = new Observers(options.observers);
  }

  /**
   * Opens the session. Throws `session_locked` if another process holds it, and errors of the store. A
   * log that is away is no error.
   */
  static async open(options: HostOptions): Promise<SessionHost> {
    const { record, store: given, log, clock, random } = options;
    const { uid, sessionId } = record;
    let host: SessionHost | undefined;
    await holdSession(given, uid);
    try {
      const source = new FactSource({
        store: given,
        log,
        clock,
        random,
        uid,
        key: await given.key(uid),
        onChange: (connection, error) => host?.connectionChanged(connection, error),
        onRefusal: (refused) => host?.refusalChanged(refused),
        onFailure: (error) => host?.fail(error),
      });
      const onFact = (fact: Fact): void => host?.onFact(fact);
      const remember = callsToRemember(options.agent.settings);
      const store = retryingStore(given, source.outage, () => host?.journal.state.head ?? 0);
      const journal = await source.start(() =>
        SessionJournal.open({ store, log, uid, sessionId, onFact, remember }),
      );
      const hash = await sha256(`millrace conversation ${uid}`);
      const conversationKey = hash.slice(0, 32);
      host = new SessionHost(options, journal, { store, source, conversationKey });
      if (source.connection !== "live") host.connectionChanged(source.connection, undefined);
      const { drive, makeDriver = inline } = options;
      if (drive) host.#driver = makeDriver(host.#workHost(), (error) => host?.fail(error));
      return host;
    } catch (error) {
      await releaseSession(given, uid);
      throw error;
    }
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** How new facts reach this process, and whether the store answers. */
  get connection(): SessionConnection {
    return this.#source.connection;
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

  /** Called if a port breaks its contract or the session is gone. All waiting calls end with the error. */
  fail(error: unknown): void {
    this.#broken ??= brokenPort(error);
    for (const { onFailed } of this.#senderOptions.values()) onFailed?.(this.#broken);
    this.#source.close();
    this.#notify();
    // Nothing of a removed session is stored any more, so its work stops.
    if (this.#broken.code === "unknown_session") void this.#driver?.close();
  }

  /** Called by the journal for each new fact, in order. */
  onFact(fact: Fact): void {
    if (fact.type === "run_finished") this.#runEnded(fact);
    this.#emit(fact);
    if (this.#driver !== undefined) for (const notice of noticesOf(fact)) this.#emit(notice);
    if (fact.type === "approval_requested") {
      const { ask = this.options.ask, actor } = this.#senderOptions.get(fact.runId) ?? {};
      void askApprover(this.inbox, ask, fact, actor);
    }
    this.#driver?.wake(fact);
    this.#notify();
  }

  /** Closes the driver, waits for announcements, and unlocks the session. Takes up to 5 s. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.#closed = true;
    this.#source.close(); // what waits for the store ends
    await this.#driver?.close();
    await this.inbox.announced();
    await this.journal.announced();
    await this.journal.checkpointKept();
    this.#notify();
    await releaseSession(this.options.store, this.options.record.uid);
  }

  /** Adds accepted facts to the journal before the sender gets its answer. The inbox announces them. */
  #inboxOptions(): InboxOptions {
    const { record, log, blobs, makeId } = this.options;
    const { uid, tenant } = record;
    return {
      uid,
      log,
      blobs,
      tenant,
      makeId,
      start: () => this.#knownStart(),
      store: {
        accept: (_, key, body) => this.#accept(key, body),
        key: () => this.store.key(uid),
        read: (_, options) => this.store.read(uid, options),
      },
    };
  }

  /** Stores what a person sent. Waits while the store is away, until the session is closed or the sender stops. */
  async #accept(key: string, body: PeopleFact): Promise<AcceptOutcome> {
    const { record, store } = this.options;
    const run = body.type === "input_accepted" ? runIdOf(body.inputId) : undefined;
    const signal = run && this.#senderOptions.get(run)?.signal;
    const over = this.over();
    if (over !== undefined) throw over;
    try {
      const { outage } = this.#source;
      const accept = () => store.accept(record.uid, key, body).catch(throwIfRefused);
      const answer = await outage.retry(accept, signal);
      if (answer.outcome === "accepted") {
        outage.wrote();
        this.journal.accepted(answer.facts);
      }
      // An earlier try may have stored it, with only its answer lost.
      if (answer.outcome === "duplicate") this.journal.announcedUpTo(answer.fact.n);
      return answer;
    } catch (error) {
      if (!MillraceError.is(error) && signal?.aborted === true) throw unsent(error);
      throw this.over() ?? error;
    }
  }

  /** What this host has read already. Nothing if it does not know since when the run is on. */
  async #knownStart(): Promise<InboxStart | undefined> {
    await this.journal.catchUp();
    const { state, runs } = this.journal;
    const since = state.run === undefined ? 0 : runs.get(state.run.runId)?.since;
    if (since === undefined) return undefined;
    return { state, since, acceptedAt: (inputId) => runs.acceptedAt(inputId) };
  }

  #workHost(): WorkHost {
    const { record, agent, store: originalStore, depth = 0, runsOnce = false } = this.options;
    const { log, blobs, clock, makeId, random = systemRandom, allowance, ask } = this.options;
    const { uid, sessionId, tenant, owner } = record;
    return {
      uid,
      sessionId,
      blobs,
      blobScope: { tenant, uid },
      info: this.info,
      owner,
      store: this.store,
      originalStore,
      log,
      clock,
      makeId,
      random,
      agent,
      journal: this.journal,
      observed: (runId) => this.observers.has(runId),
      emit: (event) => this.#emit(event),
      runOptions: (runId) => ({ output: this.#senderOptions.get(runId)?.output }),
      allowance,
      depth,
      runsOnce,
      conversationKey: this.#conversationKey,
      ask,
      lanes: this.#lanes,
    };
  }

  #runEnded(fact: FactOf<"run_finished">): void {
    const { runId } = fact;
    // An observer gets the failure, so it is not unseen.
    if (fact.outcome === "failed" && !this.observers.has(runId))
      this.#senderOptions.get(runId)?.onFailed?.(fact.cause);
    this.#senderOptions.delete(runId);
    // After the facts of the same call, and off the path of the run's result.
    if (this.#driver === undefined) return;
    setImmediate(() => (this.closed ? undefined : this.journal.keepCheckpoint()));
  }

  /** Called at each change of `connection`. */
  connectionChanged(connection: SessionConnection, error: unknown): void {
    const { clock, record } = this.options;
    const message = error === undefined ? {} : { message: redactedMessage(error) };
    const place = { sessionId: record.sessionId, time: clock.now() };
    this.#emit({ type: "connection_changed", connection, ...message, ...place });
  }

  /** Called when the disk of the store has begun to refuse writes, and when it takes them again. */
  refusalChanged(refused: { readonly error: unknown } | undefined): void {
    this.stalled = refused && unstored(refused.error);
    this.#notify();
  }

  #emit(event: RunEvent): void {
    this.observers.call(event, this.journal.state.run?.runId);
  }

  #notify(): void {
    for (const wake of this.#waiting) wake();
  }
}

const inline: MakeDriver = (host, onBroken) => new Driver(host, onBroken);

interface HostPorts {
  readonly store: SessionStore;
  readonly source: FactSource;
  readonly conversationKey: string;
}

import { createInbox, MillraceError, project } from "@millrace/core";
import type { Fact, Inbox, InputId, RunEvent, RunId, View } from "@millrace/core";
import type { FactOf, InboxOptions } from "@millrace/core/writing";
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

export interface HostOptions {
  readonly record: SessionRecord;
  readonly agent: Blueprint;
  readonly observers: readonly Observer[];
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly ask: AskMode;
  /** `false`: the session is spoken to and read here, and driven elsewhere. */
  readonly drive: boolean;
  readonly allowance?: Allowance | undefined;
  readonly depth?: number | undefined;
}

/** What the sender of an input wants, as far as it can't be stored with it. */
export interface SenderOptions {
  readonly output: Schema | undefined;
  readonly ask: AskMode | undefined;
}

/** How often the head is read while a run is awaited, in case an announcement was lost. */
const pollMs = 15_000;

/**
 * A session in this process: inbox, journal and, where it is driven here, its driver. Sessions, runs
 * and tools of sub-agents are views of one of these.
 */
export class SessionHost {
  readonly options: HostOptions;
  readonly journal: SessionJournal;
  readonly inbox: Inbox;
  readonly info: SessionInfo;
  readonly observers: Observers;
  readonly #lanes = new Map<number, () => OpenLane>();
  readonly #senderOptions = new Map<RunId, SenderOptions>();
  readonly #ended = new Map<RunId, FactOf<"run_finished">>();
  readonly #takenBack = new Set<InputId>();
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
    for (const fact of journal.facts) this.#remember(fact);
  }

  static async open(options: HostOptions): Promise<SessionHost> {
    const { record, store, log } = options;
    const { uid, sessionId } = record;
    let host: SessionHost | undefined;
    const onFact = (fact: Fact): void => host?.onFact(fact);
    await holdSession(store, uid);
    const closing = new AbortController();
    try {
      // Subscribed before it is read, so that nothing falls between.
      log.setKey?.(uid, await store.key(uid));
      const heads = await log.heads(uid, { signal: closing.signal });
      const remember = callsToRemember(options.agent.settings);
      const journal = await SessionJournal.open({ store, log, uid, sessionId, onFact, remember });
      host = new SessionHost(options, journal);
      host.#closing.signal.addEventListener("abort", () => closing.abort(), { once: true });
      if (options.drive) host.#drive();
      host.#listen(heads).catch(() => undefined); // without it there is still the poll
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

  /** What a screen shows, with what this process is writing. */
  view(): View {
    const lanes = [...this.#lanes.values()].map((lane) => lane());
    return project({ ...this.journal.state, lanes: lanes.toSorted((a, b) => a.lane - b.lane) });
  }

  /** How a run ended, if it did. */
  ended(runId: RunId): FactOf<"run_finished"> | undefined {
    return this.#ended.get(runId);
  }

  /** Whether an input left the queue without becoming an item. */
  takenBack(inputId: InputId): boolean {
    return this.#takenBack.has(inputId);
  }

  /** Why nothing more will happen here: the store is broken, or the session was closed. */
  over(): MillraceError | undefined {
    if (this.#broken !== undefined) return this.#broken;
    if (!this.closed) return undefined;
    return new MillraceError("closed", "the session was closed; open it again to go on");
  }

  setSenderOptions(runId: RunId, options: SenderOptions): void {
    this.#senderOptions.set(runId, options);
  }

  /** What is picked, as soon as there is something to pick. Nothing if the session is over first. */
  async until<T>(pick: () => T | undefined, signal?: AbortSignal): Promise<T | undefined> {
    for (;;) {
      const picked = pick();
      if (picked !== undefined || signal?.aborted === true || this.over() !== undefined) {
        return picked;
      }
      await new Promise<void>((resolve) => {
        const look = (): void => {
          this.#waiting.delete(look);
          signal?.removeEventListener("abort", look);
          resolve();
        };
        this.#waiting.add(look);
        signal?.addEventListener("abort", look, { once: true });
      });
    }
  }

  /** Reads the head now and then, as long as the work lasts. */
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

  fail(error: unknown): void {
    this.#broken ??= brokenPort(error);
    this.#notify();
  }

  onFact(fact: Fact): void {
    this.#remember(fact);
    this.#emit(fact);
    if (fact.type === "approval_requested") this.#askApprover(fact);
    this.#driver?.wake();
    this.#notify();
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.#closing.abort();
    await this.#driver?.close();
    await this.inbox.announced();
    await this.journal.announced();
    this.#notify();
    await releaseSession(this.options.store, this.options.record.uid);
  }

  #drive(): void {
    this.#driver = new Driver(this.#workHost(), (error) => this.fail(error));
  }

  /** What is accepted is in the journal before its sender is answered, and announced by the inbox. */
  #inboxOptions(): InboxOptions {
    const { record, store, log, makeId } = this.options;
    const { uid } = record;
    return {
      uid,
      log,
      makeId,
      store: {
        accept: async (_, key, body) => {
          const over = this.over();
          if (over !== undefined) throw over;
          const answer = await store.accept(uid, key, body);
          if (answer.outcome === "accepted") this.journal.accepted(answer.facts);
          return answer;
        },
        key: () => store.key(uid),
        read: async (_, { after = 0 } = {}) => {
          await this.journal.catchUp();
          return this.journal.facts.slice(after);
        },
      },
    };
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

  /** An announcement is a hint: facts come from the store alone. */
  async #listen(heads: AsyncIterable<number>): Promise<void> {
    for await (const head of heads) this.journal.announcedUpTo(head);
  }

  #remember(fact: Fact): void {
    if (fact.type === "queue_updated") this.#takenBack.add(fact.inputId);
    if (fact.type !== "run_finished") return;
    this.#ended.set(fact.runId, fact);
    this.#senderOptions.delete(fact.runId);
  }

  /** Puts a question to whoever started the run. */
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
    for (const look of this.#waiting) look();
  }
}

/** Nobody's answer is a no, and so is one that can't be got. */
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

/** The error of a store or a log, as users get it. */
export function brokenPort(error: unknown): MillraceError {
  if (MillraceError.is(error)) return error;
  const said = error instanceof Error ? error.message : String(error);
  return new MillraceError("broken_port", `the store or the log failed: ${said}`, { cause: error });
}

import { MillraceError, project } from "@millrace/core";
import type {
  Clock,
  EventLog,
  Fact,
  FactOf,
  InputId,
  Json,
  MakeId,
  OpenLane,
  PeopleFact,
  RunEvent,
  RunId,
  SessionRecord,
  SessionStore,
  View,
} from "@millrace/core";
import { Driver } from "../loop/drive.ts";
import type { Blueprint, Host } from "../loop/host.ts";
import { callObservers } from "../observe/call-observers.ts";
import type { Observer } from "../observe/observer.ts";
import type { Schema } from "../schema/schema.ts";
import type { Allowance, AskMode } from "../tool/host.ts";
import type { SessionInfo } from "../tool/tool.ts";
import type { Acceptance } from "./input.ts";
import { Journal } from "./journal.ts";

export interface HostOptions {
  readonly record: SessionRecord;
  readonly agent: Blueprint;
  readonly observers: readonly Observer[];
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly ask: AskMode;
  readonly allowance?: Allowance | undefined;
  readonly depth?: number | undefined;
}

/** What the sender of an input wants, as far as it can't be stored with it. */
export interface SenderWishes {
  readonly output: Schema | undefined;
  readonly ask: AskMode | undefined;
}

/** How often the head is read while somebody waits for a run, in case an announcement was lost. */
const pollMs = 15_000;

/**
 * A session in this process: its journal, its driver, and whoever waits for something to happen in it.
 * Sessions, runs and tools of sub-agents are views of one of these.
 */
export class SessionHost {
  readonly options: HostOptions;
  readonly journal: Journal;
  readonly info: SessionInfo;
  readonly #lanes = new Map<number, () => OpenLane>();
  readonly #wishes = new Map<RunId, SenderWishes>();
  readonly #ended = new Map<RunId, FactOf<"run_finished">>();
  readonly #takenBack = new Set<InputId>();
  readonly #waiting = new Set<() => void>();
  readonly #closing = new AbortController();
  #driver: Driver | undefined;
  #sending: Promise<unknown> = Promise.resolve();
  #broken: MillraceError | undefined;

  private constructor(options: HostOptions, journal: Journal) {
    this.options = options;
    this.journal = journal;
    this.info = infoOf(options.record);
    for (const fact of journal.facts) this.#remember(fact);
  }

  static async open(options: HostOptions): Promise<SessionHost> {
    const { record, store, log } = options;
    const { uid, sessionId } = record;
    let host: SessionHost | undefined;
    const onFact = (fact: Fact): void => host?.onFact(fact);
    await store.hold?.(uid);
    // Subscribed before it is read, so that nothing falls between.
    const closing = new AbortController();
    log.setKey?.(uid, await store.key(uid));
    const heads = await log.heads(uid, { signal: closing.signal });
    host = new SessionHost(options, await Journal.open({ store, log, uid, sessionId, onFact }));
    host.#closing.signal.addEventListener("abort", () => closing.abort(), { once: true });
    host.#driver = new Driver(host.#driverHost(), (error) => host.broke(error));
    host.#listen(heads).catch(() => undefined); // without it there is still the poll
    return host;
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

  wish(runId: RunId, wishes: SenderWishes): void {
    this.#wishes.set(runId, wishes);
  }

  /** Stores what a person said, in the order in which it was said. Never rejects. */
  say(key: string, body: () => Promise<PeopleFact>): Promise<Acceptance> {
    const { store, record } = this.options;
    const accept = async (): Promise<Acceptance> => {
      const over = this.over();
      if (over !== undefined) return { accepted: false, error: over };
      try {
        const answer = await store.accept(record.uid, key, await body());
        if (answer.outcome === "accepted") this.journal.stored(answer.facts);
        if (answer.outcome === "refused") return refused(answer.reason);
        return { accepted: true };
      } catch (error) {
        return { accepted: false, error: brokenPort(error) };
      }
    };
    const accepted = this.#sending.then(accept);
    this.#sending = accepted;
    return accepted;
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
        await this.journal.catchUp().catch(() => undefined);
      }
    };
    void poll();
    try {
      return await work;
    } finally {
      done.abort();
    }
  }

  broke(error: unknown): void {
    this.#broken ??= brokenPort(error);
    this.#notify();
  }

  onFact(fact: Fact): void {
    this.#remember(fact);
    this.#emit(fact);
    if (fact.type === "approval_requested") this.#put(fact);
    this.#driver?.wake();
    this.#notify();
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.#closing.abort();
    await this.#driver?.close();
    await this.#sending;
    await this.journal.announced();
    this.#notify();
    await this.options.store.release?.(this.options.record.uid);
  }

  #driverHost(): Host {
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
      observed: this.options.observers.length > 0,
      emit: (event) => this.#emit(event),
      wishes: (runId) => ({ output: this.#wishes.get(runId)?.output }),
      allowance,
      depth,
      ask,
      answered: (answer, signal) => this.until(() => this.#answer(answer), signal),
      lanes: this.#lanes,
    };
  }

  #answer(inputId: InputId): { readonly inputId: InputId; readonly output: Json } | undefined {
    const queued = this.journal.state.queue.find((one) => one.inputId === inputId);
    return queued?.input.kind === "answer" ? { inputId, output: queued.input.output } : undefined;
  }

  /** An announcement is a hint: facts come from the store alone. */
  async #listen(heads: AsyncIterable<number>): Promise<void> {
    for await (const head of heads) {
      // A read that was under way may have begun before this fact was stored, so there may be two.
      for (let reads = 0; reads < 2 && head > this.journal.state.head; reads += 1) {
        await this.journal.catchUp().catch(() => undefined);
      }
    }
  }

  #remember(fact: Fact): void {
    if (fact.type === "queue_updated") this.#takenBack.add(fact.inputId);
    if (fact.type !== "run_finished") return;
    this.#ended.set(fact.runId, fact);
    this.#wishes.delete(fact.runId);
  }

  /** Puts a question to whoever started the run. */
  #put({ approvalId, callId, tool, input, hash, runId }: FactOf<"approval_requested">): void {
    const ask = this.#wishes.get(runId)?.ask ?? this.options.ask;
    if (ask === "wait") return;
    const answer = async (): Promise<void> => {
      const approval = { id: approvalId, callId, tool, input, hash };
      const decision = ask === "deny" ? "deny" : await askSafely(() => ask(approval));
      const reason = ask === "deny" ? { reason: "there is nobody to ask" } : {};
      await this.say(`answer_${approvalId}`, async () => ({
        type: "approval_resolved",
        approvalId,
        callId,
        decision,
        ...reason,
      }));
    };
    void answer();
  }

  #emit(event: RunEvent): void {
    callObservers(this.options.observers, event);
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

function refused(reason: "key_reused" | "settled" | "unknown"): Acceptance {
  const why = {
    key_reused: "the same id was used for something else",
    settled: "it came too late: what it is about is settled",
    unknown: "what it is about is not there",
  }[reason];
  return { accepted: false, error: new MillraceError("refused", `not accepted: ${why}`) };
}

function brokenPort(error: unknown): MillraceError {
  if (MillraceError.is(error)) return error;
  const said = error instanceof Error ? error.message : String(error);
  return new MillraceError("broken_port", `the store or the log failed: ${said}`, { cause: error });
}

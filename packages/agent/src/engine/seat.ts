import { MillraceError } from "@millrace/core";
import type { Fact, ItemId } from "@millrace/core";
import type { FactBody } from "@millrace/core/writing";
import { append } from "../drive/append.ts";
import { begin } from "../drive/begin.ts";
import type { DriveContext } from "../drive/drive-context.ts";
import { record } from "../drive/record.ts";
import { toolHostOf } from "../drive/tool-host.ts";
import { TurnMemory } from "../drive/turn-memory.ts";
import { UnderWay } from "../drive/under-way.ts";
import type { Thrown } from "../drive/under-way.ts";
import { WakeSignal } from "../drive/wake-signal.ts";
import type { Action } from "../loop/action.ts";
import { endingAhead } from "../loop/ahead.ts";
import { decide } from "../loop/decide.ts";
import type { Known } from "../loop/known.ts";
import { perform } from "../loop/perform.ts";
import type { Doing, LoopState } from "../loop/state.ts";
import type { LocalDriver } from "../session/host-options.ts";
import { Fenced } from "../work/host.ts";
import type { Epochs, WorkHost } from "../work/host.ts";
import { briefSettings, briefStanding, briefTools } from "./brief-of.ts";
import { EngineClaim } from "./engine-claim.ts";
import { memoryOf } from "./memory-of.ts";
import { ownPart } from "./own-part.ts";
import { RecentOutlines } from "./recent-outlines.ts";
import { StepEpochs } from "./step-epochs.ts";
import { StepWork } from "./step-work.ts";
import type { StepAnswer, StepContext, StepRequest } from "./step.ts";

/** A bound on the actions of one step, so that ports that contradict each other do not spin for ever. */
const mostActions = 256;
/** A retry that is due this soon is waited for in the step: another step costs the engine more. */
const soonMs = 2_000;
/** How often a step looks at the time while an action waits that is not its own. */
const lookMs = 1_000;
/** How long `close` waits for work to stop. */
const closingMs = 5_000;

/** A step in progress. */
interface Stepping {
  readonly drive: DriveContext;
  /** The claim under which it writes. */
  readonly incarnation: number;
  readonly signal: WakeSignal;
  /** Aborted if the engine gave the step up. */
  readonly lost: AbortSignal;
  readonly work: StepWork;
  readonly epochs: StepEpochs;
}

/**
 * What one worker of an engine keeps of a session: its journal, warm, and the work that runs here. A
 * step is one long action with all that only records before and after it. The engine decides by outlines
 * which step comes next; what a step does it decides here again, over whole facts. So a step that is
 * repeated, late or lost does what is left to do, and nothing twice.
 *
 * A stop reaches the work here directly, by its fact, and not through the engine.
 */
export class Seat implements LocalDriver {
  readonly #host: WorkHost;
  readonly #claim: EngineClaim;
  readonly #memory = new TurnMemory();
  readonly #recent = new RecentOutlines();
  readonly #closing = new AbortController();
  readonly #underWay: UnderWay;
  /** Of the steps that are in progress here. */
  readonly #signals = new Set<WakeSignal>();
  #incarnation: number | undefined;
  #broken: { readonly error: unknown } | undefined;
  readonly #onBroken: (error: unknown) => void;

  constructor(host: WorkHost, onBroken: (error: unknown) => void) {
    this.#host = host;
    this.#onBroken = onBroken;
    this.#claim = new EngineClaim(host);
    this.#underWay = new UnderWay(
      () => this.#incarnation,
      (thrown) => this.#ended(thrown),
    );
  }

  /** True while a step is in progress here. */
  get isBusy(): boolean {
    return this.#signals.size > 0;
  }

  wake(fact?: Fact): void {
    if (fact !== undefined) this.#recent.add(fact);
    for (const signal of this.#signals) signal.wake();
  }

  /** Stops the work here without storing it: the engine repeats its step elsewhere. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#stopWork();
    this.wake();
    // Work that ignores its signal is not waited for: it can no longer record anything.
    const done = new AbortController();
    await Promise.race([this.#underWay.ended(), this.#host.clock.sleep(closingMs, done.signal)]);
    done.abort(); // a pending timer would keep the process alive
  }

  /** Performs one step. Rejects if it was lost or could not be ended: the engine repeats it. */
  async step(request: StepRequest, context: StepContext): Promise<StepAnswer> {
    const signal = new WakeSignal();
    const lost = Promise.withResolvers<never>();
    const onAbort = (): void => {
      signal.wake();
      lost.reject(new Fenced()); // a call to a store that is away may be in the step
    };
    this.#signals.add(signal);
    context.signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await Promise.race([this.#step(request, context, signal), lost.promise]);
    } finally {
      this.#signals.delete(signal);
      context.signal.removeEventListener("abort", onAbort);
    }
  }

  async #step(request: StepRequest, context: StepContext, signal: WakeSignal): Promise<StepAnswer> {
    const { journal, store, uid, agent } = this.#host;
    await journal.catchUp();
    const held = await this.#claim.hold(request, context);
    if (held.outcome !== "held") return held;
    const { incarnation } = held;
    if (this.#incarnation !== incarnation) this.#takeOver(incarnation);
    const epochs = await StepEpochs.of(this.#host, incarnation, request);
    const work = new StepWork(this.#underWay);
    const drive = this.#driveOf(request, epochs, incarnation, work);
    await this.#act({ drive, incarnation, signal, lost: context.signal, epochs, work }, request);
    if (!this.#holds(incarnation)) return { outcome: "superseded" };
    const { head } = journal.state;
    const { standing } = journal;
    const outlines = await this.#recent.since({ store, uid }, request.head, head);
    const now = store.now();
    const { used } = epochs;
    const tools = briefTools(agent.settings, standing);
    return {
      outcome: "stepped",
      head,
      ...(outlines === undefined ? { standing: briefStanding(standing) } : { outlines }),
      memory: memoryOf(this.#state(request), now),
      now,
      ...(used === undefined ? {} : { generation: used }),
      ...(tools === undefined ? {} : { tools }),
      ...(request.wantsSettings === true ? { settings: briefSettings(agent.settings) } : {}),
    };
  }

  /** Another claim holds from now on. What was under way belongs to the one before. */
  #takeOver(incarnation: number): void {
    if (this.#incarnation !== undefined) this.#stopWork();
    this.#memory.forget();
    this.#incarnation = incarnation;
  }

  /** Decides and performs until the next thing to do is not this step's. */
  async #act(step: Stepping, request: StepRequest): Promise<void> {
    const { clock, store, journal } = this.#host;
    const { signal } = step;
    let hasBegun = false;
    for (let left = mostActions; left > 0; left -= 1) {
      if (!this.#holds(step.incarnation)) return;
      this.#check(step);
      const decidedAt = journal.state.head;
      const action = decide(this.#state(request));
      if (action.do === "wait") {
        const { until } = action;
        const ms = until === undefined ? undefined : until - store.now();
        const isDueSoon =
          !hasBegun && request.work !== undefined && ms !== undefined && ms < soonMs;
        if (!this.#isUnderWay(request) && !isDueSoon) return;
        left += 1; // to wait is no action
        await signal.sleep(clock, ms);
        continue;
      }
      const own = ownPart(action, request, hasBegun || step.epochs.isClosed());
      if (own === undefined && !this.#isUnderWay(request)) return;
      if (own === undefined) await signal.sleep(clock, lookMs);
      else await this.#perform(step, own, decidedAt);
      hasBegun ||= own?.do === request.work;
    }
    const why = "the facts call for ever more actions: the store or the log contradicts itself";
    throw new MillraceError("broken_port", why);
  }

  async #perform(
    { drive, incarnation }: Stepping,
    action: Action,
    decidedAt: number,
  ): Promise<void> {
    const appendHere = (bodies: readonly FactBody[]): Promise<boolean> =>
      append(this.#host, { incarnation, head: decidedAt, bodies });
    const loop = {
      record: (asked: Parameters<typeof record>[1], bodies: readonly FactBody[]) =>
        record(drive, asked, bodies, appendHere),
      begin: (asked: Parameters<typeof begin>[1]) => begin(drive, asked),
      skip: async () => undefined,
    };
    await perform(loop, action, () => this.#known(drive.epochs));
  }

  #known(epochs: Epochs): Known {
    const { standing, state } = this.#host.journal;
    return { standing, state, closes: epochs.last(), ...this.#memory.known() };
  }

  #driveOf(
    request: StepRequest,
    epochs: StepEpochs,
    incarnation: number,
    work: StepWork,
  ): DriveContext {
    const report = async (bodies: readonly FactBody[]): Promise<void> => {
      const { journal } = this.#host;
      while (!(await append(this.#host, { incarnation, head: journal.state.head, bodies })));
    };
    return {
      host: this.#host,
      epochs,
      underWay: work.begins,
      memory: this.#memory,
      opensReplies: false, // the step that writes the reply has its own generation
      report,
      ahead: (done) => (bodies) => this.#ahead(request, epochs, done, bodies),
      toolHost: (epoch) =>
        toolHostOf(this.#host, epoch, {
          state: () => this.#state(request),
          left: () => this.#incarnation !== incarnation || this.#closing.signal.aborted,
          closing: this.#closing.signal,
          report,
        }),
    };
  }

  #ahead(
    request: StepRequest,
    epochs: StepEpochs,
    done: { readonly reply: true } | { readonly call: ItemId },
    bodies: readonly FactBody[],
  ): readonly FactBody[] {
    const state = this.#state(request);
    const calls = new Set(state.doing.calls);
    if ("call" in done) calls.delete(done.call);
    const reply = "call" in done && state.doing.reply;
    const after = { ...state, doing: { ...state.doing, calls, reply } };
    return endingAhead(after, this.#known(epochs), bodies);
  }

  #state(request: StepRequest): LoopState {
    const { journal, agent, store, clock, runOptions } = this.#host;
    const { standing } = journal;
    const now = store.now();
    const { run } = standing;
    const wanted = run !== undefined && runOptions(run.runId).output !== undefined;
    const times = { now, monotonic: clock.monotonic() };
    const doing = { ...this.#doing(request), ...this.#memory.doing(wanted, times) };
    return { standing, settings: agent.settings, now, doing: { ...doing, allowance: undefined } };
  }

  /**
   * The work of all steps. A started call that is not this step's counts as under way: only the step
   * that has it, or the engine, knows that it was lost.
   */
  #doing(
    request: StepRequest,
  ): Pick<Doing, "reply" | "compaction" | "assessing" | "calls" | "interrupted"> {
    const here = this.#underWay.doing();
    const { elsewhere, work, calls: own = [] } = request;
    const open = this.#host.journal.standing.run?.turn?.reply?.calls ?? [];
    const others = open.filter(
      ({ started, settled, itemId }) => started !== undefined && !settled && !own.includes(itemId),
    );
    const started = work === undefined ? [] : others.map(({ itemId }) => itemId);
    const calls = new Set([...here.calls, ...(elsewhere?.calls ?? []), ...started]);
    const reply = here.reply || elsewhere?.reply === true;
    const compaction = here.compaction || elsewhere?.compaction === true;
    const hasOwn = here.reply || here.compaction || here.calls.size > 0;
    // Work elsewhere hears of a stop by itself.
    const interrupted = hasOwn ? here.interrupted : reply || compaction || calls.size > 0;
    return { reply, compaction, assessing: here.assessing, calls, interrupted };
  }

  /** Whether work of this step runs here. Also that of an earlier attempt, which is waited for then. */
  #isUnderWay({ work, calls = [] }: StepRequest): boolean {
    const here = this.#underWay.doing();
    if (here.assessing) return true;
    if (work === "reply" || work === "respond") return here.reply;
    if (work === "compact") return here.compaction;
    return calls.some((itemId) => here.calls.has(itemId));
  }

  /** Throws if the step is lost, if a later attempt at it is in progress, or if a port is broken. */
  #check({ lost, epochs, work }: Stepping): void {
    if (this.#broken !== undefined) throw this.#broken.error;
    const isLost = lost.aborted || this.#closing.signal.aborted;
    if (!isLost && !work.isFenced && !epochs.isOutdated()) return;
    work.stop();
    throw new Fenced();
  }

  /** Whether the claim still holds. If not, all work of it stops here. */
  #holds(incarnation: number): boolean {
    const isNewest = this.#host.journal.standing.incarnation === incarnation;
    if (!isNewest && this.#incarnation === incarnation) this.#stopWork();
    return isNewest;
  }

  async #ended(thrown: Thrown | undefined): Promise<void> {
    if (thrown?.error instanceof Fenced) await this.#host.journal.catchUp().catch(() => undefined);
    else if (thrown !== undefined) this.#break(thrown.error);
    this.wake();
  }

  #break(error: unknown): void {
    this.#broken ??= { error };
    this.#onBroken(error);
  }

  #stopWork(): void {
    this.#underWay.stop(new Fenced());
    this.#memory
      .takeHeld()
      ?.drop()
      .catch(() => undefined); // its lane may be another writer's by now
  }
}

import { MillraceError } from "@millrace/core";
import type { Fact } from "@millrace/core";
import { ActionHost } from "../drive/action-host.ts";
import { SessionWork } from "../drive/session-work.ts";
import type { Thrown, Work, WorkInProgress } from "../drive/session-work.ts";
import { WakeSignal } from "../drive/wake-signal.ts";
import type { Action } from "../loop/action.ts";
import { decide } from "../loop/decide.ts";
import type { LocalDriver } from "../session/host-options.ts";
import { Fenced } from "../work/host.ts";
import type { WorkHost } from "../work/host.ts";
import { briefMemory, briefSettings, briefStanding, briefTools } from "./brief-of.ts";
import { EngineClaim, unlessLost } from "./engine-claim.ts";
import { withNamedQuestions } from "./named-questions.ts";
import { RecentOutlines } from "./recent-outlines.ts";
import { reportLost } from "./report-lost.ts";
import { StepEpochs } from "./step-epochs.ts";
import type { StepAnswer, StepContext, Stepped, StepRequest } from "./step.ts";

/** A bound on the actions of one step, so that ports that contradict each other do not spin for ever. */
const mostActions = 256;
/** A retry that is due this soon is waited for in the step: another step costs the engine more. */
const soonMs = 2_000;
/** How often a step looks at the time while an action waits that is not its own. */
const lookMs = 1_000;

/** A step in progress. */
interface Stepping {
  readonly request: StepRequest;
  readonly actions: ActionHost;
  readonly epochs: StepEpochs;
  readonly signal: WakeSignal;
  /** Aborted if the engine gave the step up. */
  readonly lost: AbortSignal;
  /** Stops the work of this step alone: others of the session may be in progress here. */
  readonly stop: AbortController;
  /** Set once its work was refused: a later attempt at it has the lane, or another driver. */
  isFenced: boolean;
}

/**
 * Performs the steps of one session that an engine drives, in one of its workers. A step is one long action
 * with all that only records before and after it. The engine decides by outlines which step comes next;
 * what a step does is decided here again, over whole facts. So a step that is repeated, late or lost does
 * what is left to do, and nothing twice.
 *
 * A stop reaches the work here directly, by its fact, and not through the engine.
 */
export class StepDriver implements LocalDriver {
  readonly #host: WorkHost;
  readonly #claim: EngineClaim;
  readonly #work: SessionWork;
  readonly #recent = new RecentOutlines();
  /** Of the steps that are in progress here. */
  readonly #signals = new Set<WakeSignal>();
  #incarnation: number | undefined;
  #broken: { readonly error: unknown } | undefined;
  readonly #onBroken: (error: unknown) => void;

  constructor(host: WorkHost, onBroken: (error: unknown) => void) {
    this.#host = host;
    this.#onBroken = onBroken;
    this.#claim = new EngineClaim(host);
    this.#work = new SessionWork(
      host.clock,
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
    this.#work.close();
    this.wake();
    await this.#work.ended();
  }

  /** The engine's run that made this claim is over. Its steps here have been given up before. */
  async release(by: string): Promise<void> {
    await this.#work.ended();
    await this.#claim.release(by);
  }

  /** Performs one step. Rejects if it was lost or could not be ended: the engine repeats it. */
  async step(request: StepRequest, context: StepContext): Promise<StepAnswer> {
    const signal = new WakeSignal();
    this.#signals.add(signal);
    try {
      const onLost = (): void => signal.wake();
      return await unlessLost(this.#step(request, context, signal), context, onLost);
    } finally {
      this.#signals.delete(signal);
    }
  }

  async #step(request: StepRequest, context: StepContext, signal: WakeSignal): Promise<StepAnswer> {
    const { journal, store, uid, agent } = this.#host;
    await journal.catchUp();
    const claimed = await this.#claim.claim(request, context);
    if (claimed.outcome !== "claimed") return claimed;
    const { incarnation } = claimed;
    if (this.#incarnation !== incarnation) this.#takeOver(incarnation);
    const epochs = await StepEpochs.of(this.#host, incarnation, request);
    const step = this.#begin(request, epochs, signal, context.signal);
    await reportLost(this.#host, { ...request, incarnation }, context);
    await this.#act(step);
    if (!this.#holds(incarnation)) return { outcome: "superseded" };
    const { head } = journal.state;
    const { standing } = journal;
    const outlines = await this.#recent.since({ store, uid }, request.head, head);
    const now = store.now();
    const { used } = epochs;
    const tools = briefTools(agent.settings, standing);
    const answer: Stepped = {
      outcome: "stepped",
      head,
      ...(outlines === undefined ? { standing: briefStanding(standing) } : { outlines }),
      memory: briefMemory(step.actions.state(), now),
      now,
      ...(used === undefined ? {} : { generation: used }),
      ...(tools === undefined ? {} : { tools }),
      ...(request.wantsSettings === true ? { settings: briefSettings(agent.settings) } : {}),
    };
    return request.namesQuestions === true ? withNamedQuestions(answer, standing) : answer;
  }

  /** Another claim holds from now on. What was under way belongs to the one before. */
  #takeOver(incarnation: number): void {
    if (this.#incarnation !== undefined) this.#work.abandon();
    this.#work.memory.forget();
    this.#incarnation = incarnation;
  }

  #begin(
    request: StepRequest,
    epochs: StepEpochs,
    signal: WakeSignal,
    lost: AbortSignal,
  ): Stepping {
    const stop = new AbortController();
    const guard = (work: Work): Work => {
      return async (stopped) => {
        try {
          await work(AbortSignal.any([stopped, stop.signal]));
        } catch (error) {
          step.isFenced ||= error instanceof Fenced;
          throw error;
        }
      };
    };
    const actions = new ActionHost({
      host: this.#host,
      work: this.#work,
      claim: epochs,
      opensReplies: false, // the step that writes the reply has its own generation
      doing: () => this.#doing(request),
      guard,
    });
    const step: Stepping = { request, actions, epochs, signal, lost, stop, isFenced: false };
    return step;
  }

  /** Decides and performs until the next thing to do is not this step's. */
  async #act(step: Stepping): Promise<void> {
    const { clock, store, journal } = this.#host;
    const { request, actions, epochs, signal } = step;
    let hasBegun = false;
    for (let left = mostActions; left > 0; left -= 1) {
      if (!this.#holds(epochs.incarnation)) return;
      this.#check(step);
      const decidedAt = journal.state.head;
      const action = decide(actions.state());
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
      const own = ownPart(action, request, hasBegun || epochs.isClosed());
      if (own === undefined && !this.#isUnderWay(request)) return;
      if (own === undefined) await signal.sleep(clock, lookMs);
      else await actions.perform(own, decidedAt);
      hasBegun ||= own?.do === request.work;
    }
    const why = "the facts call for ever more actions: the store or the log contradicts itself";
    throw new MillraceError("broken_port", why);
  }

  /**
   * The work of all steps. A started call that is not this step's counts as under way: only the step
   * that has it, or the engine, knows that it was lost.
   */
  #doing(request: StepRequest): WorkInProgress {
    const here = this.#work.doing();
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
    // A stop reaches work elsewhere by its fact.
    const interrupted = hasOwn ? here.interrupted : reply || compaction || calls.size > 0;
    return { reply, compaction, assessing: here.assessing, calls, interrupted };
  }

  /** Whether work of this step runs here. Also that of an earlier attempt, which is waited for then. */
  #isUnderWay({ work, calls = [] }: StepRequest): boolean {
    const here = this.#work.doing();
    if (here.assessing) return true;
    if (work === "reply" || work === "respond") return here.reply;
    if (work === "compact") return here.compaction;
    return calls.some((itemId) => here.calls.has(itemId));
  }

  /** Throws if the step is lost, if a later attempt at it is in progress, or if a port is broken. */
  #check({ lost, epochs, stop, isFenced }: Stepping): void {
    if (this.#broken !== undefined) throw this.#broken.error;
    const isLost = lost.aborted || this.#work.closing.aborted;
    if (!isLost && !isFenced && !epochs.isOutdated()) return;
    const fenced = new Fenced();
    stop.abort(fenced);
    throw fenced;
  }

  /** Whether the claim still holds. If not, all work of it stops here. */
  #holds(incarnation: number): boolean {
    const isNewest = this.#host.journal.standing.incarnation === incarnation;
    if (!isNewest && this.#incarnation === incarnation) this.#work.abandon();
    return isNewest;
  }

  async #ended(thrown: Thrown | undefined): Promise<void> {
    if (thrown?.error instanceof Fenced) await this.#host.journal.catchUp().catch(() => undefined);
    else if (thrown !== undefined) {
      this.#broken ??= { error: thrown.error };
      this.#onBroken(thrown.error);
    }
    this.wake();
  }
}

/**
 * The part of an action that a step performs, or undefined: then the action is for another step. What
 * only records belongs to every step. Of long actions a step performs the one that it is for, once; of
 * the calls of a reply those that it has.
 */
function ownPart(
  action: Action,
  { work, calls = [] }: Pick<StepRequest, "work" | "calls">,
  hasBegun: boolean,
): Action | undefined {
  switch (action.do) {
    case "reply":
    case "respond":
    case "compact":
      return action.do === work && !hasBegun ? action : undefined;
    case "execute": {
      if (work !== "execute" || hasBegun) return undefined;
      const own = action.calls.filter(({ itemId }) => calls.includes(itemId));
      return own.length === 0 ? undefined : { ...action, calls: own };
    }
    default:
      return action;
  }
}

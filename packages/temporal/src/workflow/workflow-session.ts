import {
  CancellationScope,
  condition,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from "@temporalio/workflow";
import type { Action, ActionOf } from "@millrace/agent/loop";
import type { WorkflowArgs } from "../names.ts";
import type { StepArgs, StepResult } from "../steps.ts";
import { SessionLoop } from "./session-loop.ts";
import type { LastReply } from "./session-loop.ts";
import { StepRunner } from "./step-runner.ts";
import type { LongStep } from "./step-runner.ts";

/** The actions that take long, and that a caller may keep for itself. */
export type LongAction = "reply" | "respond" | "compact" | "execute";

/** The state of a session, for people who look at its workflow. Nothing of its content. */
export interface SessionSummary {
  readonly sessionId: string;
  readonly head: number;
  readonly run: string | undefined;
  readonly turn: number;
  readonly queued: number;
  readonly doing: readonly string[];
}

export interface DriveOptions {
  /** The long actions that may be begun. At any other `drive` returns. */
  readonly begins: readonly LongAction[];
  /** Whether a session without work is waited for. Left out: `drive` returns. */
  readonly waitsForInput?: boolean | undefined;
  /** Called where nothing is under way, before a long action begins. */
  readonly atRest?: (() => Promise<void>) | undefined;
}

/** How an activity is shown to people, and where it runs. */
interface StepOptions {
  readonly summary: string;
  readonly activityId: string;
  readonly taskQueue?: string;
}

/** How long to wait for another driver that has the session. */
const drivenMs = 2_000;
/** A deadline that is further away is looked at again: no engine takes any number. */
const longestTimerMs = 30 * 86_400_000;
/** Looks without progress, before the workflow waits between them. */
const patience = 3;

/**
 * One session in a workflow: decides by outlines, and lets activities act. Inputs, answers and stops are
 * facts in the store. A signal only says that there are some, and may be lost: each step reads what came.
 */
export class WorkflowSession {
  readonly args: WorkflowArgs;
  readonly #place: number;
  readonly #loop = new SessionLoop(() => Date.now());
  readonly #runner = new StepRunner();
  /** Set by whatever may change the next decision. */
  #woken = false;
  #failure: { readonly error: unknown } | undefined;
  #hasLooked = false;
  #isOver = false;
  #stalls = 0;

  /** `place` is 0 for the first session of a workflow, and counts on for others. */
  constructor(args: WorkflowArgs, place: number) {
    this.args = args;
    this.#place = place;
  }

  /** True once another driver has the session, or it was removed: nothing can be done here any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get lastReply(): LastReply | undefined {
    return this.#loop.lastReply;
  }

  /** A signal came: there are facts up to this number. */
  noteHead(n: number): void {
    this.#loop.noteHead(n);
    this.#woken = true;
  }

  /** Whether the workflow may be continued as new: all that it knows is in the store. */
  get isResting(): boolean {
    return this.#loop.isResting && !this.#loop.mustLook;
  }

  /** Acts until the session has no work, or the next long action is not among those that may begin. */
  async drive(options: DriveOptions): Promise<void> {
    if (!this.#hasLooked) await this.#look({ wantsSettings: true, ...continuing() });
    this.#hasLooked = true;
    while (!this.#isOver) {
      if (this.#failure !== undefined) throw this.#failure.error;
      if (this.#loop.mustLook) await this.#look({});
      else if (!(await this.#next(this.#loop.decide(), options))) return;
    }
  }

  /** Stops the session's run, for an operator who cancels the workflow. */
  async stop(): Promise<void> {
    await CancellationScope.nonCancellable(() => this.#runner.stop(this.args));
    this.noteHead(this.#loop.head + 1);
  }

  summary(): SessionSummary {
    const { standing, head, reply, compaction, calls } = this.#loop;
    const { run, queue } = standing;
    const doing = [
      ...(reply ? ["reply"] : []),
      ...(compaction ? ["compact"] : []),
      ...(calls.size === 0 ? [] : [`${calls.size} calls`]),
    ];
    const { sessionId } = this.args;
    const [turn, queued] = [run?.turns ?? 0, queue.length];
    return { sessionId, head, run: run?.runId, turn, queued, doing };
  }

  /** Performs one action. False: `drive` returns. */
  async #next(action: Action, options: DriveOptions): Promise<boolean> {
    switch (action.do) {
      case "wait":
      case "interrupt": // the worker that does it hears of a stop by itself
        return await this.#wait(action.do === "wait" ? action.until : undefined, options);
      case "reply":
      case "respond":
      case "compact":
      case "execute":
        if (!options.begins.includes(action.do)) return await this.#rest();
        if (this.isResting) await options.atRest?.();
        this.#stalls = 0;
        this.#begin(action);
        return true;
      default:
        // What only records is decided again where the content is.
        await this.#record();
        return true;
    }
  }

  async #wait(
    until: number | undefined,
    { waitsForInput = false }: DriveOptions,
  ): Promise<boolean> {
    const { isBusy, standing } = this.#loop;
    if (!isBusy && standing.run === undefined && !waitsForInput) return this.#loop.mustLook;
    // While a step is under way its worker watches the time, and no timer enters the history.
    await this.#changed(isBusy ? undefined : until);
    return true;
  }

  /** The next long action is the caller's. What is under way is waited for. */
  async #rest(): Promise<boolean> {
    if (!this.#loop.isBusy) return false;
    await this.#changed(undefined);
    return true;
  }

  async #changed(until: number | undefined): Promise<void> {
    const woken = (): boolean => this.#woken;
    if (until === undefined) await condition(woken);
    else await condition(woken, Math.min(longestTimerMs, Math.max(1, this.#loop.msUntil(until))));
    this.#woken = false;
  }

  /** Looks, and waits longer each time if nothing comes of it: a workflow must not spin. */
  async #record(): Promise<void> {
    const { head } = this.#loop;
    await this.#look({});
    this.#stalls = this.#loop.head > head ? 0 : this.#stalls + 1;
    if (this.#stalls >= patience) await sleep(Math.min(30_000, 100 * 2 ** this.#stalls));
  }

  async #look(more: Pick<StepArgs, "wantsSettings" | "continues">): Promise<void> {
    for (;;) {
      const answer = await this.#runner.look({ ...this.#step(0), ...more });
      this.#take(answer);
      if (answer.outcome !== "driven") break;
      await sleep(drivenMs);
    }
    this.#loop.looked();
  }

  #begin(action: ActionOf<LongAction>): void {
    const turn = this.#loop.standing.run?.turns ?? 0;
    if (action.do === "execute") {
      const queues = Map.groupBy(action.calls, ({ tool }) => this.#loop.queueOf(tool));
      for (const [taskQueue, calls] of queues) {
        const ids = calls.map(({ itemId }) => itemId);
        const args = { ...this.#step(ids.length), calls: ids };
        for (const id of ids) this.#loop.calls.add(id);
        const summary = `turn ${turn}: ${calls.map(({ tool }) => tool).join(", ")}`.slice(0, 200);
        // With the first call's place, so that a replay which makes the calls in another order is refused.
        const named = this.#named(summary, idOf("tools", `${turn}.${calls[0]?.lane}`, args));
        const options = taskQueue === undefined ? named : { ...named, taskQueue };
        this.#start("tools", args, options, () => ids.forEach((id) => this.#loop.calls.delete(id)));
      }
      return;
    }
    const args = this.#step(1);
    const doing = action.do === "compact" ? "compaction" : "reply";
    this.#loop[doing] = true;
    const again = "attempt" in action && action.attempt > 1 ? `, try ${action.attempt}` : "";
    const summary = `turn ${turn}: ${action.do}${again}`;
    const options = this.#named(summary, idOf(action.do, turn, args));
    this.#start(action.do, args, options, () => (this.#loop[doing] = false));
  }

  /** Steps of several sessions may be under way at once, and the id of each is its own. */
  #named(summary: string, activityId: string): StepOptions {
    if (this.#place === 0) return { summary, activityId };
    const shown = `${this.args.sessionId.slice(0, 40).toWellFormed()}, ${summary}`.slice(0, 200);
    return { summary: shown, activityId: `${this.#place + 1}-${activityId}` };
  }

  #start(step: LongStep, args: StepArgs, options: StepOptions, end: () => unknown): void {
    setCurrentDetails(options.summary);
    const run = async (): Promise<void> => {
      try {
        const answer = await this.#runner.run(step, args, options);
        end();
        this.#take(answer);
      } catch (error) {
        end();
        this.#failure = { error };
      }
      this.#woken = true;
    };
    void run();
  }

  #take(answer: StepResult): void {
    if (answer.engine !== undefined) this.#runner.engine = answer.engine;
    if (answer.outcome === "stepped") this.#loop.take(answer);
    if (answer.outcome === "superseded" || answer.outcome === "gone") this.#isOver = true;
  }

  /** The argument of a step that writes so many items. */
  #step(items: number): StepArgs {
    const { reply, compaction, calls, head, isBusy, namesQuestions } = this.#loop;
    const elsewhere = {
      ...(reply ? { reply } : {}),
      ...(compaction ? { compaction } : {}),
      ...(calls.size === 0 ? {} : { calls: [...calls] }),
    };
    const generation = items === 0 ? 0 : this.#loop.giveOut(items);
    const { given } = this.#loop;
    return {
      ...this.args,
      head,
      generation,
      given,
      ...(isBusy ? { elsewhere } : {}),
      ...(namesQuestions ? { namesQuestions } : {}),
    };
  }
}

/** The step's name, its turn, and the first of its generations, which no other step of the run has. */
function idOf(step: LongStep, turn: number | string, { generation }: StepArgs): string {
  return `${step}-${turn}-${generation}`;
}

/** A workflow that was continued as new had nothing under way, so no driver was lost. */
function continuing(): Pick<StepArgs, "continues"> {
  return workflowInfo().continuedFromExecutionRunId === undefined ? {} : { continues: true };
}

/** Whether Temporal suggests to continue the workflow as new. */
export function isLong(): boolean {
  return workflowInfo().continueAsNewSuggested;
}

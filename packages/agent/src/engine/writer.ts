import type { Fact } from "@millrace/core";
import { defaultRetryPolicy, retryDelay } from "@millrace/core/model";
import { packEpoch, unpackEpoch } from "@millrace/core/ports";
import type { Epoch, ModelRequest } from "@millrace/core/ports";
import { noUsage } from "@millrace/core/writing";
import type { FactBody } from "@millrace/core/writing";
import { append } from "../drive/action-host.ts";
import type { FactContext } from "../loop/fact-context.ts";
import type { LocalDriver } from "../session/host-options.ts";
import { attempt } from "../work/attempt.ts";
import type { Attempted, RequestOptions } from "../work/attempt.ts";
import { itemFrom } from "../work/retryable-attempt.ts";
import { Fenced } from "../work/host.ts";
import type { WorkHost } from "../work/host.ts";
import { isLane, openItemLane } from "../work/item-lane.ts";
import type { ItemLane } from "../work/item-lane.ts";
import { dropIfFenced, hasFailed } from "../work/reply.ts";
import { EngineClaim, unlessLost } from "./engine-claim.ts";
import { lastOfGeneration } from "./step-epochs.ts";
import type { StepContext, StepRequest } from "./step.ts";
import { beginningOf, endingFacts, intentsOf, nextTurnOf } from "./written-facts.ts";
import { programItemIdOf, resultsOf } from "./written-facts.ts";
import type { ProgramEnding, TurnIds } from "./written-facts.ts";
import type { NotClaimed, ProgramStep, WriteRequest, Written } from "./step.ts";

/**
 * Writes what a program of one's own asks of models into a session: each reply is streamed through a lane
 * and stored once. The program decides what it asks next; nothing here does. Claims, epochs and stops are
 * those of every engine, so a writer that was taken for dead is refused.
 */
export class Writer implements LocalDriver {
  readonly #host: WorkHost;
  readonly #claim: EngineClaim;
  /** The requests that are under way, with the claim that each is under. */
  readonly #working = new Map<AbortController, number>();
  #steps = 0;
  /** The engine's runs whose claim is known to be older than the session's run, or that has none. */
  readonly #begun = new Set<string>();

  constructor(host: WorkHost) {
    this.#host = host;
    this.#claim = new EngineClaim(host);
  }

  get isBusy(): boolean {
    return this.#steps > 0;
  }

  /** A person's stop and another's claim reach the model by their facts, and not through the engine. */
  wake(_fact?: Fact): void {
    const { incarnation, run } = this.#host.journal.standing;
    for (const [work, incarnationOf] of this.#working) {
      if (incarnationOf !== incarnation) work.abort(new Fenced());
      else if (run?.aborting === true) work.abort();
    }
  }

  async close(): Promise<void> {
    for (const work of this.#working.keys()) work.abort(new Fenced());
  }

  /** Streams and stores one reply. Rejects if the step was lost: the engine repeats it. */
  async write(request: WriteRequest, context: StepContext): Promise<Written> {
    return await this.#counted(this.#write(request, context), context);
  }

  /** Ends the run that the program has begun, if it is on. */
  async finish(
    step: ProgramStep,
    ending: ProgramEnding,
    context: StepContext,
  ): Promise<NotClaimed | { readonly outcome: "finished" }> {
    return await this.#counted(this.#finish(step, ending, context), context);
  }

  async #counted<Result>(step: Promise<Result>, context: StepContext): Promise<Result> {
    this.#steps += 1;
    try {
      return await unlessLost(step, context);
    } finally {
      this.#steps -= 1;
    }
  }

  async #write(request: WriteRequest, context: StepContext): Promise<Written> {
    const { journal } = this.#host;
    await journal.catchUp();
    const claimed = await this.#claim.claim(claimOf(request), context);
    if (claimed.outcome !== "claimed") return claimed;
    const epoch = packEpoch({ ...request, incarnation: claimed.incarnation });
    try {
      const ids = await this.#turnOf(request, epoch);
      return ids === undefined
        ? await this.#stopped(epoch)
        : await this.#reply(request, ids, epoch, context);
    } catch (error) {
      if (!(error instanceof Fenced) || context.signal.aborted) throw error;
      await journal.catchUp();
      const isOver =
        journal.standing.incarnation !== claimed.incarnation || journal.state.closed >= epoch;
      if (isOver) return { outcome: "superseded" };
      throw error; // a later attempt at this step has the lane
    }
  }

  async #finish(
    step: ProgramStep,
    ending: ProgramEnding,
    context: StepContext,
  ): Promise<NotClaimed | { readonly outcome: "finished" }> {
    const { journal, store, uid } = this.#host;
    const incarnation = await store.claimedBy(uid, step.by);
    if (incarnation === undefined) return { outcome: "finished" }; // it has asked no model
    await journal.catchUp();
    const claimed = await this.#claim.claim(claimOf(step), context);
    if (claimed.outcome !== "claimed") return claimed;
    const epoch = packEpoch({ ...step, incarnation });
    await this.#end(epoch, ({ standing }) =>
      standing.run?.aborting === true ? { outcome: "aborted" } : ending,
    );
    return { outcome: "finished" };
  }

  /** Where the reply belongs. Undefined if a person has stopped the program. */
  async #turnOf(request: WriteRequest, epoch: Epoch): Promise<TurnIds | undefined> {
    const { transcript } = request.request;
    const { journal } = this.#host;
    await this.#endOther(request, epoch);
    await this.#record(epoch, (context) => {
      const { standing, state } = context;
      const { run } = standing;
      if (isStopped(context, epoch)) return [];
      if (run === undefined) return beginningOf(context, transcript, epoch);
      const isBetween = run.turn === undefined || run.turn.stop !== undefined;
      return [...resultsOf(state, transcript), ...(isBetween ? nextTurnOf(standing) : [])];
    });
    const { run } = journal.standing;
    if (run?.turn === undefined || run.aborting) return undefined;
    return { runId: run.runId, turnId: run.turn.turnId };
  }

  /** Ends a run that is on and that began before the program's claim: its own program has left it. */
  async #endOther({ by, fresh }: WriteRequest, epoch: Epoch): Promise<void> {
    if (!fresh || this.#begun.has(by)) return;
    const { journal, store, uid } = this.#host;
    const { incarnation } = unpackEpoch(epoch);
    const { run } = journal.standing;
    const since = run === undefined ? undefined : (journal.runs.get(run.runId)?.since ?? 1);
    const facts = since === undefined ? [] : await store.read(uid, { after: since });
    const isOlder = facts.some(
      (fact) => fact.type === "session_claimed" && fact.incarnation === incarnation,
    );
    // The claim has closed the lanes of that run. Those of this one are to be opened.
    const closes = packEpoch({ incarnation, generation: 0, attempt: 0 });
    if (isOlder)
      await this.#record(epoch, (context) =>
        context.standing.run?.runId === run?.runId
          ? endingFacts({ ...context, closes }, leftAlone)
          : [],
      );
    this.#begun.add(by);
  }

  async #reply(
    { model, request, lane, attempt: tries }: WriteRequest,
    ids: TurnIds,
    epoch: Epoch,
    { signal: lost }: StepContext,
  ): Promise<Written> {
    const id = programItemIdOf(ids.turnId, epoch);
    const opens = { ...ids, itemId: id, lane, epoch, author: "model", model: model.id } as const;
    const opened = await openItemLane(this.#host, opens);
    const stop = new AbortController();
    const leave = (): void => stop.abort(new Fenced());
    this.#working.set(stop, unpackEpoch(epoch).incarnation);
    lost.addEventListener("abort", leave, { once: true });
    if (lost.aborted) leave();
    this.wake(); // a stop may have come since the turn was found
    try {
      let item = isLane(opened) ? undefined : opened;
      if (isLane(opened)) {
        const asked = async (options: RequestOptions): Promise<ModelRequest> => ({
          ...request,
          ...options,
        });
        const made = await attempt(this.#host, model, opened, {
          signal: stop.signal,
          request: asked,
        });
        await dropIfFenced(stop.signal, opened);
        const delay = this.#retryIn(made, tries, stop.signal);
        if (delay !== undefined) return await this.#tryAgain(opened, ids, made, delay);
        const report = {
          type: "usage_reported",
          ...ids,
          epoch,
          usage: made.usage ?? noUsage,
        } as const;
        item = await opened.commit(itemFrom(opened, id, made), { settlement: [report] });
      }
      if (item === undefined || item.stop === "aborted") return await this.#stopped(epoch);
      if (item.cause !== undefined) return { outcome: "failed", cause: item.cause };
      const reply = item;
      await this.#record(epoch, ({ state }) => intentsOf(state, ids, reply, epoch));
      return { outcome: "written", item };
    } finally {
      lost.removeEventListener("abort", leave);
      this.#working.delete(stop);
    }
  }

  /** When a failed request is sent again, or undefined: then what came of it is stored. */
  #retryIn(made: Attempted, tries: number, { aborted }: AbortSignal): number | undefined {
    const { cause } = made.ending;
    if (!hasFailed(made) || aborted || cause === undefined) return undefined;
    const delay = retryDelay(defaultRetryPolicy, { attempt: tries, cause }, this.#host.random());
    return delay === undefined ? undefined : Math.max(1, Math.round(delay));
  }

  async #tryAgain(
    lane: ItemLane,
    ids: TurnIds,
    { ending, usage = noUsage }: Attempted,
    retryInMs: number,
  ): Promise<Written> {
    const cause = ending.cause ?? { code: "reply_failed", message: "the reply failed" };
    const { epoch } = lane;
    let reported = false;
    await this.#record(epoch, () => {
      if (reported) return [];
      reported = true;
      return [{ type: "usage_reported", ...ids, epoch, usage }];
    });
    lane.publish({ type: "retry_scheduled", cause, delayMs: retryInMs });
    await lane.drop();
    return { outcome: "failed", cause, retryInMs };
  }

  /** Ends the run that a person stopped. */
  async #stopped(epoch: Epoch): Promise<Written> {
    await this.#end(epoch, (context) =>
      context.standing.run?.aborting === true ? { outcome: "aborted" } : undefined,
    );
    return { outcome: "stopped" };
  }

  /** Ends the run that is on, and closes the lanes of all steps that are under way in it. */
  async #end(
    epoch: Epoch,
    endingFor: (context: FactContext) => ProgramEnding | undefined,
  ): Promise<void> {
    const { store, uid } = this.#host;
    const { incarnation } = unpackEpoch(epoch);
    const open = await store.floors(uid);
    const own = open.filter((floor) => unpackEpoch(floor.epoch).incarnation === incarnation);
    const closes = Math.max(...[epoch, ...own.map((floor) => floor.epoch)].map(lastOfGeneration));
    await this.#record(epoch, (context) => {
      const ending = endingFor(context);
      return ending === undefined ? [] : endingFacts({ ...context, closes }, ending);
    });
  }

  /** Stores what is to be stored, until there is nothing. Decides again if other facts came first. */
  async #record(
    epoch: Epoch,
    bodiesFor: (context: FactContext) => readonly FactBody[],
  ): Promise<void> {
    const { journal } = this.#host;
    const { incarnation } = unpackEpoch(epoch);
    for (;;) {
      const { standing, state } = journal;
      const bodies = bodiesFor({ ...noContext, standing, state, closes: epoch });
      if (bodies.length === 0) return;
      await append(this.#host, { incarnation, head: state.head, bodies });
    }
  }
}

/** The request for the claim of a program's run. Its steps are not the loop's. */
function claimOf(step: ProgramStep): StepRequest {
  const { by, fresh, generation, attempt: tries } = step;
  return { by, generation, attempt: tries, head: 0, given: 0, continues: !fresh };
}

/** Whether a person has stopped the run, or stopped the last one of this claim and sent nothing since. */
function isStopped({ standing, state }: FactContext, epoch: Epoch): boolean {
  const { run, queue } = standing;
  if (run !== undefined) return run.aborting;
  const { ended } = state;
  if (ended?.outcome !== "aborted" || queue.some(({ held }) => !held)) return false;
  return unpackEpoch(ended.closes).incarnation === unpackEpoch(epoch).incarnation;
}

const leftAlone = {
  outcome: "failed",
  cause: { code: "lost", message: "the program that had this run ended without it" },
} as const;

const noContext = {
  refusals: () => undefined,
  parsed: () => undefined,
  answers: () => undefined,
  outputProblem: undefined,
  failed: undefined,
} as const;

import type { ItemId } from "@millrace/core";
import { unpackEpoch } from "@millrace/core/ports";
import type { DriverRequest, Epoch } from "@millrace/core/ports";
import type { FactBody } from "@millrace/core/writing";
import type { ToolHost } from "../definition/tool-host.ts";
import type { Action } from "../loop/action.ts";
import { endingAhead } from "../loop/ahead.ts";
import type { FactContext } from "../loop/fact-context.ts";
import { outOf, overspent } from "../loop/limits.ts";
import { perform } from "../loop/perform.ts";
import type { LoopHost } from "../loop/perform.ts";
import type { LoopState } from "../loop/state.ts";
import { Fenced } from "../work/host.ts";
import type { Epochs, WorkHost } from "../work/host.ts";
import type { Ahead } from "../work/item-lane.ts";
import { begin } from "./begin.ts";
import { record } from "./record.ts";
import type { SessionWork, Work, WorkInProgress, WorkKind } from "./session-work.ts";

/** What a host of actions is made of. */
export interface ActionHostOptions {
  readonly host: WorkHost;
  readonly work: SessionWork;
  readonly claim: ActionClaim;
  /** Whether the lane of a reply is opened together with its turn: only where the same driver writes it. */
  readonly opensReplies: boolean;
  /** The work in progress, as `decide` is to see it. Left out: that of this process. */
  readonly doing?: (() => WorkInProgress) | undefined;
  /** Wraps each work that is begun. */
  readonly guard?: ((work: Work) => Work) | undefined;
}

/** The claim that actions are performed under, with the epochs that it gives out. */
export interface ActionClaim extends Epochs {
  /** Throws `Fenced` if there is none. */
  readonly incarnation: number;
}

/**
 * Performs the actions of `decide` on one session in this process: appends their facts under a claim, and
 * starts their work. The inline driver has one host for as long as it drives. The driver of an engine's
 * steps has one for each step, as each has epochs of its own.
 */
export class ActionHost {
  readonly host: WorkHost;
  readonly work: SessionWork;
  readonly epochs: Epochs;
  readonly opensReplies: boolean;
  readonly #guard: (work: Work) => Work;
  readonly #claim: ActionClaim;
  readonly #doing: () => WorkInProgress;

  constructor({ host, work, claim, opensReplies, ...options }: ActionHostOptions) {
    this.host = host;
    this.work = work;
    this.epochs = claim;
    this.#claim = claim;
    this.opensReplies = opensReplies;
    this.#guard = options.guard ?? ((begun) => begun);
    this.#doing = options.doing ?? (() => work.doing());
  }

  /** The input of `decide` now. */
  state(): LoopState {
    const { journal, agent, store, clock, allowance, runOptions } = this.host;
    const { standing } = journal;
    const now = store.now();
    const wanted =
      standing.run !== undefined && runOptions(standing.run.runId).output !== undefined;
    return {
      standing,
      settings: agent.settings,
      now,
      doing: {
        ...this.#doing(),
        ...this.work.memory.doing(wanted, { now, monotonic: clock.monotonic() }),
        allowance: allowance?.exhausted(),
      },
    };
  }

  /** Performs an action that was decided at this head. False if it no longer fits the session. */
  perform(action: Action, head: number): Promise<boolean> {
    const appendHere = (
      bodies: readonly FactBody[],
      opens?: DriverRequest["opens"],
    ): Promise<boolean> => this.#append(bodies, head, opens);
    const loop: LoopHost<Promise<boolean>> = {
      record: async (asked, bodies) => {
        await record(this, asked, bodies, appendHere);
        return true;
      },
      begin: async (asked) => {
        await begin(this, asked);
        return true;
      },
      skip: async () => false,
    };
    return perform(loop, action, () => this.#factContext());
  }

  /** Starts work beside the loop. */
  start(kind: WorkKind, work: Work): void {
    this.work.begin(kind, this.#guard(work));
  }

  /** Stores facts that are true at any head: appends again until the head has not moved meanwhile. */
  async report(bodies: readonly FactBody[]): Promise<void> {
    while (!(await this.#append(bodies, this.host.journal.state.head)));
  }

  /** The facts that end turn and run after an item is stored. `done` is the work that stores it. */
  ahead(done: { readonly reply: true } | { readonly call: ItemId }): Ahead {
    return (bodies) => {
      const state = this.state();
      const calls = new Set(state.doing.calls);
      if ("call" in done) calls.delete(done.call);
      const reply = "call" in done && state.doing.reply;
      const after = { ...state, doing: { ...state.doing, calls, reply } };
      return endingAhead(after, this.#factContext(), bodies);
    };
  }

  /** What a tool uses to run a sub-agent: the same ports, and its parent's budget. */
  toolHost(epoch: Epoch): ToolHost {
    const { originalStore: store, log, blobs, clock, makeId, random } = this.host;
    const { depth, allowance, journal, ask, uid, owner } = this.host;
    const { closing } = this.work;
    const { run } = journal.standing;
    return {
      parent: { uid, owner },
      store,
      log,
      blobs,
      clock,
      makeId,
      random,
      depth: depth + 1,
      ask,
      left: () => closing.aborted || unpackEpoch(epoch).incarnation !== this.work.held(),
      closing,
      allowance: {
        exhausted: () => exhausted(this.state()),
        spend: async (usage) => {
          if (run === undefined) return;
          const { runId, turn } = run;
          const ids = turn === undefined ? { runId } : { runId, turnId: turn.turnId };
          await this.report([{ type: "usage_reported", ...ids, epoch, usage }]);
          await allowance?.spend(usage);
        },
      },
    };
  }

  #factContext(): FactContext {
    const { standing, state } = this.host.journal;
    return { standing, state, closes: this.epochs.last(), ...this.work.memory.factContext() };
  }

  async #append(
    bodies: readonly FactBody[],
    head: number,
    opens?: DriverRequest["opens"],
  ): Promise<boolean> {
    const { incarnation } = this.#claim;
    return await append(this.host, { incarnation, head, bodies, opens });
  }
}

/** Stores facts under a claim. False if the head has moved: nothing was stored, decide again. */
export async function append(
  { store, uid, journal }: Pick<WorkHost, "store" | "uid" | "journal">,
  request: DriverRequest,
): Promise<boolean> {
  const answer = await store.append(uid, request);
  if (answer.outcome === "fenced") throw new Fenced();
  if (answer.outcome === "appended") journal.stored(answer.facts);
  else await journal.catchUp();
  return answer.outcome === "appended";
}

/** The limit that the run has reached, if any; for a sub-agent that spends its budget. Includes time. */
function exhausted(state: LoopState): string | undefined {
  const { run } = state.standing;
  if (run === undefined || run.aborting) return "parent";
  return outOf(state, run) ?? overspent(state, run);
}

import type { ItemId } from "@millrace/core";
import { packEpoch, unpackEpoch } from "@millrace/core/ports";
import type { Epoch } from "@millrace/core/ports";
import type { ActionClaim } from "../drive/action-host.ts";
import type { WorkHost } from "../work/host.ts";
import type { StepRequest } from "./step.ts";

type OfStep = Pick<StepRequest, "generation" | "given" | "attempt" | "work" | "calls">;

/**
 * The epochs of one step. The engine has given it generations that no other step has, and counts its
 * attempts, so an attempt that is thought lost and writes on is below the next one in each of its lanes.
 */
export class StepEpochs implements ActionClaim {
  readonly #host: WorkHost;
  readonly incarnation: number;
  readonly #step: OfStep;
  #next: number;

  private constructor(host: WorkHost, incarnation: number, step: OfStep, first: number) {
    this.#host = host;
    this.incarnation = incarnation;
    this.#step = step;
    this.#next = first;
  }

  /**
   * An agent's own `respond` writes any number of items while nothing else is under way, so it takes as
   * many generations as it needs. A repeat of it begins above all that the lost attempt has opened.
   */
  static async of(host: WorkHost, incarnation: number, step: OfStep): Promise<StepEpochs> {
    const { generation, work, attempt } = step;
    if (work !== "respond" || attempt === 1)
      return new StepEpochs(host, incarnation, step, generation);
    const { state } = host.journal;
    const open = await host.store.floors(host.uid);
    const used = [...open, ...state.closedLanes].map(({ epoch }) => epoch);
    const own = [state.closed, ...used].map(unpackEpoch);
    const generations = own.flatMap((epoch) =>
      epoch.incarnation === incarnation ? [epoch.generation + 1] : [],
    );
    return new StepEpochs(host, incarnation, step, Math.max(generation, ...generations));
  }

  /** The highest generation that this step has used, if it is above the given ones. */
  get used(): number | undefined {
    return this.#next - 1 > this.#step.given ? this.#next - 1 : undefined;
  }

  next(of?: ItemId): Epoch {
    const { attempt, generation: first, calls = [] } = this.#step;
    const at = of === undefined ? -1 : calls.indexOf(of);
    // The same for each attempt at a call, whichever of its neighbours is left to run.
    const generation = at < 0 ? this.#next : first + at;
    this.#next = Math.max(this.#next, generation + 1);
    return packEpoch({ incarnation: this.incarnation, generation, attempt });
  }

  /**
   * Whether the facts have closed this step's generations: the turn for which it was begun is over. What
   * comes next needs a step of its own, as nothing that this one opens would be accepted.
   */
  isClosed(): boolean {
    const { attempt } = this.#step;
    const next = { incarnation: this.incarnation, generation: this.#next, attempt };
    return this.#host.journal.state.closed >= packEpoch(next);
  }

  /** Whether a later attempt at this step has begun one of its calls. */
  isOutdated(): boolean {
    const { generation, given, attempt } = this.#step;
    const calls = this.#host.journal.standing.run?.turn?.reply?.calls ?? [];
    return calls.some(({ started }) => {
      if (started === undefined || generation === 0) return false;
      const other = unpackEpoch(started);
      const isOwn = other.generation >= generation && other.generation <= given;
      return isOwn && other.incarnation === this.incarnation && other.attempt > attempt;
    });
  }

  /** Above all that was given out, and above calls that later steps have started meanwhile. */
  last(): Epoch {
    const generation = Math.max(this.#step.given + 1, this.#next);
    const given = packEpoch({ incarnation: this.incarnation, generation, attempt: 0 }) - 1;
    const calls = this.#host.journal.standing.run?.turn?.reply?.calls ?? [];
    const started = calls.flatMap(({ started: epoch }) =>
      epoch === undefined ? [] : [lastOfGeneration(epoch)],
    );
    return Math.max(given, ...started);
  }
}

/** The highest epoch of the generation: what closes all attempts of it. */
export function lastOfGeneration(epoch: Epoch): Epoch {
  const { incarnation, generation } = unpackEpoch(epoch);
  return packEpoch({ incarnation, generation: generation + 1, attempt: 0 }) - 1;
}

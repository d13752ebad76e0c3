import { MillraceError } from "@millrace/core";
import { lifeOf } from "../drive/life.ts";
import { recordRelease } from "../drive/record-release.ts";
import { Fenced } from "../work/host.ts";
import type { WorkHost } from "../work/host.ts";
import type { StepContext, StepRequest } from "./step.ts";

/** What a step may do: write under an incarnation, or nothing. */
export type Claimed =
  | { readonly outcome: "claimed"; readonly incarnation: number }
  | { readonly outcome: "superseded" | "driven" };

const superseded: Claimed = { outcome: "superseded" };
/** Each try is lost to another fact only if one was stored meanwhile. */
const mostTries = 20;

/**
 * The claim of an engine's run. Each run claims once, and its steps look the claim up in the store: the
 * engine's own state may be older, after a reset by an operator.
 */
export class EngineClaim {
  readonly #host: WorkHost;
  /** The claim that was last looked up. A process works for few runs of a session at once. */
  #latest: { readonly by: string; readonly incarnation: number } | undefined;

  constructor(host: WorkHost) {
    this.#host = host;
  }

  /** Looks up the claim of the step's run, or claims the session for it. The journal is caught up. */
  async claim(request: StepRequest, context: StepContext): Promise<Claimed> {
    const incarnation = await this.#lookUp(request.by);
    if (incarnation === undefined) return await this.#claim(request, context);
    return this.#host.journal.standing.incarnation === incarnation
      ? { outcome: "claimed", incarnation }
      : superseded;
  }

  /** Stores that the engine's run has left the session, if its claim still holds. */
  async release(by: string): Promise<void> {
    const incarnation = await this.#lookUp(by);
    if (incarnation !== undefined) await recordRelease(this.#host, incarnation);
  }

  async #lookUp(by: string): Promise<number | undefined> {
    if (this.#latest?.by === by) return this.#latest.incarnation;
    const { store, uid } = this.#host;
    const incarnation = await store.claimedBy(uid, by);
    if (incarnation !== undefined) this.#latest = { by, incarnation };
    return incarnation;
  }

  /**
   * Reads the incarnation, then asks the engine whether this run is the current one, then claims from
   * what was read. In any other order a run that was replaced meanwhile could win.
   */
  async #claim(
    { by, head: engineHead, continues }: StepRequest,
    { isCurrent }: StepContext,
  ): Promise<Claimed> {
    const { store, uid, journal } = this.#host;
    for (let tries = 0; tries < mostTries; tries += 1) {
      await journal.catchUp();
      const { incarnation: from, run } = journal.standing;
      const { head } = journal.state;
      if (!(await isCurrent())) return superseded;
      if (run !== undefined && (await this.#isDriven())) return { outcome: "driven" };
      // A run that has facts and has not claimed was made by a reset: what came after them is undone.
      const reset = engineHead > 0 && engineHead < head ? { to: engineHead } : {};
      const handed = continues === true && run !== undefined;
      const resumed = run === undefined || handed ? {} : { resumes: run.runId };
      const driver = this.#life.name;
      const answer = await store.claim(uid, { from, head, by, driver, ...reset, ...resumed });
      if (answer.outcome === "claimed") {
        const { incarnation } = answer;
        this.#latest = { by, incarnation };
        journal.stored(answer.facts);
        await journal.catchUp(); // a reset is taken by reading
        return { outcome: "claimed", incarnation };
      }
      const earlier = await this.#lookUp(by); // another step of this run was first
      if (earlier !== undefined) return await this.#after(earlier);
    }
    const why = "the store refuses each claim as outdated, and shows no newer facts";
    throw new MillraceError("broken_port", why);
  }

  async #after(incarnation: number): Promise<Claimed> {
    const { journal } = this.#host;
    await journal.catchUp();
    const isNewest = journal.standing.incarnation === incarnation;
    return isNewest ? { outcome: "claimed", incarnation } : superseded;
  }

  /** Whether an inline driver that lives has the run. An earlier run of the engine does not count. */
  async #isDriven(): Promise<boolean> {
    const { store, uid, journal } = this.#host;
    const { incarnation, run } = journal.standing;
    const { drivers } = store;
    if (drivers === undefined || journal.state.run?.released === incarnation) return false;
    const sign = await drivers.find(uid);
    if (sign === undefined || sign.by !== undefined) return false;
    const wake = (): void => undefined; // the engine asks again
    const claim = { uid, incarnation, run: run?.runId };
    return await this.#life.isDriven(claim, { drivers, wake, patienceMs: Infinity });
  }

  get #life(): ReturnType<typeof lifeOf> {
    return lifeOf({ ...this.#host, store: this.#host.originalStore });
  }
}

/** Rejects at once if the engine gives the step up, also while a call to a store that is away is in it. */
export async function unlessLost<Result>(
  step: Promise<Result>,
  { signal }: StepContext,
  onLost?: () => void,
): Promise<Result> {
  const lost = Promise.withResolvers<never>();
  const onAbort = (): void => {
    onLost?.();
    lost.reject(new Fenced());
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([step, lost.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

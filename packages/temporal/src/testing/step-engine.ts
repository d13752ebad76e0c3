import { setTimeout as sleep } from "node:timers/promises";
import type { LongWork, StepAnswer, StepRequest } from "@millrace/agent/engine";
import type { ItemId } from "@millrace/core";
import { SessionLoop } from "../workflow/session-loop.ts";

/** Performs a step, attempt by attempt, until one is answered. */
export type PerformStep = (request: Omit<StepRequest, "attempt">) => Promise<StepAnswer>;

/** More steps than any session of a test has. */
const mostSteps = 200;

/** An engine without Temporal: it decides as a workflow does, and answers come as JSON, as in a history. */
export class StepEngine {
  readonly loop: SessionLoop = new SessionLoop(() => Date.now());
  readonly #perform: PerformStep;
  readonly #by: string;

  constructor(by: string, perform: PerformStep) {
    this.#by = by;
    this.#perform = perform;
  }

  /** Acts until the session has no run, or its run waits for an approval. */
  async run(): Promise<void> {
    await this.#take(undefined, [], this.loop.head === 0);
    for (let left = mostSteps; left > 0; left -= 1) {
      const action = this.loop.decide();
      if (action.do === "wait" && this.#isResting()) return;
      if (action.do === "execute") {
        const ids = action.calls.map(({ itemId }) => itemId);
        await this.#take("execute", ids);
      } else if (action.do === "reply") await this.#take("reply", []);
      else if (action.do === "wait") await sleep(1);
      else await this.#take(undefined, []);
    }
    throw new Error(`the engine comes to no end: it would ${this.loop.decide().do}`);
  }

  #isResting(): boolean {
    const { run } = this.loop.standing;
    const calls = run?.turn?.reply?.calls ?? [];
    const isAsked = calls.some(
      ({ approval }) => approval !== undefined && approval.answer === undefined,
    );
    return run === undefined || isAsked;
  }

  async #take(
    work: LongWork | undefined,
    calls: readonly ItemId[],
    wantsSettings = false,
  ): Promise<void> {
    const items = work === "execute" ? calls.length : work === undefined ? 0 : 1;
    const generation = items === 0 ? 0 : this.loop.giveOut(items);
    const { given, head, namesQuestions } = this.loop;
    const own = { work, calls, generation, given, wantsSettings, namesQuestions };
    const request = { by: this.#by, head, ...own };
    const answer = JSON.parse(JSON.stringify(await this.#perform(request))) as StepAnswer;
    if (answer.outcome !== "stepped") throw new Error(`the step is ${answer.outcome}`);
    this.loop.take(answer);
  }
}

import type { Begins, UnderWay, Work } from "../drive/under-way.ts";
import { Fenced } from "../work/host.ts";

/** Begins the work of one step. Other steps of the session may be in progress at the same seat. */
export class StepWork {
  readonly #underWay: UnderWay;
  readonly #stop = new AbortController();
  #isFenced = false;

  constructor(underWay: UnderWay) {
    this.#underWay = underWay;
  }

  /** True if work of this step was refused: a later attempt at it has the lane, or another driver. */
  get isFenced(): boolean {
    return this.#isFenced;
  }

  /** Stops the work of this step without storing it. */
  stop(): void {
    this.#stop.abort(new Fenced());
  }

  get begins(): Begins {
    const underWay = this.#underWay;
    return {
      beginReply: (work) => underWay.beginReply(this.#noted(work)),
      beginCompaction: (work) => underWay.beginCompaction(this.#noted(work)),
      beginCall: (itemId, work) => underWay.beginCall(itemId, this.#noted(work)),
      beginAssessing: (work) => underWay.beginAssessing(work),
      leaveAssessing: () => underWay.leaveAssessing(),
      stop: (reason) => underWay.stop(reason),
    };
  }

  #noted(work: Work): Work {
    return async (signal) => {
      try {
        await work(AbortSignal.any([signal, this.#stop.signal]));
      } catch (error) {
        this.#isFenced ||= error instanceof Fenced;
        throw error;
      }
    };
  }
}

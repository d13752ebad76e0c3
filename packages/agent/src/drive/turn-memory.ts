import { retryHintOf } from "@millrace/core/model";
import type { ItemId } from "@millrace/core";
import type { CheckedAnswer, FactContext } from "../loop/fact-context.ts";
import { spentOf } from "../loop/outline.ts";
import { nothingSpent } from "../loop/state.ts";
import type { Doing, FailedAttempt, CallVerdict } from "../loop/state.ts";
import type { AssessedInput, Assessment } from "../tool/assess.ts";
import type { RetryableAttempt } from "../work/retryable-attempt.ts";
import type { OutputVerdict } from "../work/output.ts";
import type { OpenedLane } from "../work/reply.ts";

/**
 * What a driver has computed about the current turn and has not stored: verdicts on calls, checked
 * answers, the failed attempt that awaits a decision. Losing it in a crash is safe, because the next
 * driver computes it again from the facts.
 */
export class TurnMemory {
  /** Keyed by the reserved id of the call's result, because vendors reuse call ids in later turns. */
  readonly #verdicts = new Map<ItemId, Assessment>();
  readonly #inputs = new Map<ItemId, AssessedInput>();
  readonly #answers = new Map<ItemId, CheckedAnswer>();
  #guided: "yes" | "asks" | "unknown" = "unknown";
  #offered: ReadonlySet<string> | undefined;
  #output: OutputVerdict = { state: "unchecked" };
  #opened: OpenedLane | undefined;
  #failed:
    | {
        readonly attempt: RetryableAttempt;
        readonly failed: FailedAttempt;
        /** By the monotonic clock: a retry waits for a duration, whatever the store's clock does. */
        readonly retryAt?: number;
      }
    | undefined;

  /** Whether the facts have what requests of this turn go by: `asks` if instructions must be made first. */
  get guided(): "yes" | "asks" | "unknown" {
    return this.#guided;
  }

  setGuided(): void {
    this.#guided = "yes";
  }

  askAgain(): void {
    this.#guided = "asks";
  }

  /** The tools that the model was offered in this turn. Unset if another driver sent the request. */
  get offered(): ReadonlySet<string> | undefined {
    return this.#offered;
  }

  /** The latest failed attempt, with its lane. */
  get failed(): RetryableAttempt | undefined {
    return this.#failed?.attempt;
  }

  offer(names: readonly string[]): void {
    this.#offered = new Set(names);
  }

  setVerdict(itemId: ItemId, verdict: Assessment): void {
    this.#verdicts.set(itemId, verdict);
  }

  /** Keeps what the schema made of the arguments of an assessed call: exactly that runs. */
  setInput(itemId: ItemId, input: AssessedInput): void {
    this.#inputs.set(itemId, input);
  }

  /** Returns it once: the tool may change what it gets. */
  takeInput(itemId: ItemId): AssessedInput | undefined {
    const input = this.#inputs.get(itemId);
    this.#inputs.delete(itemId);
    return input;
  }

  setAnswer(itemId: ItemId, answer: CheckedAnswer): void {
    this.#answers.set(itemId, answer);
  }

  setOutput(output: OutputVerdict): void {
    this.#output = output;
  }

  /** The lane of the next reply was opened together with its turn. */
  setOpened(opened: OpenedLane): void {
    this.#opened = opened;
  }

  /** Returns the lane that was opened for this item, once: a further attempt opens it anew. */
  takeOpened(itemId: ItemId): OpenedLane | undefined {
    const opened = this.#opened;
    this.#opened = undefined;
    return opened?.itemId === itemId ? opened : undefined;
  }

  dropOpened(): void {
    this.#opened = undefined;
  }

  /** `jitter` is in [0, 1). */
  setFailed(attempt: RetryableAttempt, jitter: number): void {
    const { cause, usage } = attempt;
    const failed = {
      cause: retryHintOf(cause),
      refusesReasoning: cause.code === "reasoning_refused",
      jitter,
      used: spentOf(usage),
      retryAt: undefined,
    };
    this.#failed = { attempt, failed };
  }

  /** Sets the monotonic time of the retry. The failed attempt's usage is among the facts by now. */
  setRetry(retryAt: number): void {
    if (this.#failed === undefined) return;
    const { attempt, failed } = this.#failed;
    this.#failed = { attempt, failed: { ...failed, used: nothingSpent }, retryAt };
  }

  /** Removes and returns the failed attempt. The caller commits or drops it. */
  takeFailed(): RetryableAttempt | undefined {
    const failed = this.#failed?.attempt;
    this.#failed = undefined;
    return failed;
  }

  /** Clears everything about the turn. The failed attempt stays, because it has a lane to close. */
  forget(): void {
    this.#verdicts.clear();
    this.#inputs.clear();
    this.#answers.clear();
    this.#guided = "unknown";
    this.#offered = undefined;
    this.#opened = undefined;
    this.#output = { state: "unchecked" };
  }

  /**
   * The part of this that `decide` reads. `wanted`: whether the run has an output schema. `now` and
   * `monotonic` are one moment by the store's clock, which `decide` compares with, and by this process's.
   */
  doing(
    wanted: boolean,
    { now, monotonic }: { readonly now: number; readonly monotonic: number },
  ): Pick<Doing, "verdicts" | "answers" | "output" | "failed"> {
    const verdicts = new Map<ItemId, CallVerdict>();
    for (const [itemId, verdict] of this.#verdicts) verdicts.set(itemId, withoutContent(verdict));
    const answers = new Map([...this.#answers].map(([itemId, { status }]) => [itemId, status]));
    const output = wanted ? this.#output.state : "valid";
    if (this.#failed?.retryAt === undefined)
      return { verdicts, answers, output, failed: this.#failed?.failed };
    const retryAt = now + this.#failed.retryAt - monotonic;
    return { verdicts, answers, output, failed: { ...this.#failed.failed, retryAt } };
  }

  factContext(): Pick<FactContext, "refusals" | "parsed" | "answers" | "outputProblem" | "failed"> {
    return {
      refusals: (itemId) => {
        const verdict = this.#verdicts.get(itemId);
        return verdict?.decision === "refuse" ? verdict.message : undefined;
      },
      parsed: (itemId) => {
        const verdict = this.#verdicts.get(itemId);
        return verdict?.decision === "ask" ? verdict.parsed : undefined;
      },
      answers: (itemId) => this.#answers.get(itemId),
      outputProblem: this.#output.state === "invalid" ? this.#output.message : undefined,
      failed: this.failed,
    };
  }
}

/** Without content: the message of a refusal, and what a schema made. */
function withoutContent(verdict: Assessment): CallVerdict {
  return verdict.decision === "refuse"
    ? { decision: verdict.decision, status: verdict.status }
    : { decision: verdict.decision, hash: verdict.hash };
}

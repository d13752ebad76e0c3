import type { RunId } from "@millrace/core";
import { warn } from "@millrace/core/checks";
import { systemClock } from "@millrace/core/ports";
import type { Clock } from "@millrace/core/ports";

/** How long the outcome of a failed run may stay unread in a process that goes on. */
const unreadMs = 10_000;

/** Why a run failed, or why its prompt was refused. */
interface Failure {
  readonly code: string;
  readonly message: string;
  readonly refused: boolean;
}

/**
 * Whether the program that sent a prompt has read how its run failed. Reading `outcome`, `error` or
 * `cause` of a result, of a narration or of an event counts; receiving such an object does not. If
 * nothing was read when the process has nothing left to do, or after ten seconds, the process gets one
 * warning for the run.
 */
export class RunEnd {
  readonly #runId: RunId;
  readonly #warns: boolean;
  #failure: Failure | undefined;
  #isRead = false;
  #acceptanceIsRead = false;
  #iterations = 0;
  #stopTimer: (() => void) | undefined;
  readonly #clock: Pick<Clock, "after">;

  /** A prompt may be sent before its session is open, so a clock of the session's is not always there. */
  constructor(runId: RunId, warns: boolean, clock: Pick<Clock, "after"> = systemClock) {
    this.#clock = clock;
    this.#runId = runId;
    this.#warns = warns;
  }

  /** The run failed, or its prompt was refused. Only the first call counts. */
  failed(failure: Failure): void {
    if (!this.#warns || this.#isRead || this.#failure !== undefined) return;
    this.#failure = failure;
    unread.add(this);
    if (unread.size === 1) hostProcess?.once?.("beforeExit", warnOfAll);
    this.#startTimer();
  }

  /** A copy of an object with the outcome of the run. Reading its outcome, error or cause is noticed. */
  noticing<T extends object>(outcome: T): T {
    if (!this.#warns || this.#isRead) return outcome;
    const noticed = { ...outcome };
    for (const name of ["outcome", "error", "cause"]) {
      if (!(name in outcome)) continue;
      const get = (): unknown => {
        this.#read();
        return (outcome as Readonly<Record<string, unknown>>)[name];
      };
      Object.defineProperty(noticed, name, { get, enumerable: true, configurable: true });
    }
    // Node would print a property with a getter as "[Getter]".
    const printed = (): T => {
      this.#read();
      return outcome;
    };
    return Object.defineProperty(noticed, inspectSymbol, { value: printed, enumerable: false });
  }

  /** The outcome was thrown, or given to an observer. */
  reported(): void {
    this.#read();
  }

  /** `accepted` was read: a refusal is known to the sender. */
  acceptanceRead(): void {
    this.#acceptanceIsRead = true;
    if (this.#failure?.refused === true) this.#read();
  }

  /** An iteration begins. While one is on, the ten seconds do not run. Returns what ends it. */
  iterate(): () => void {
    this.#iterations += 1;
    this.#stopTimer?.();
    return () => {
      this.#iterations -= 1;
      if (this.#failure !== undefined && !this.#isRead) this.#startTimer();
    };
  }

  warn(): void {
    this.#stopTimer?.();
    unread.delete(this);
    const failure = this.#failure;
    if (this.#isRead || failure === undefined) return;
    if (failure.refused && this.#acceptanceIsRead) return;
    this.#isRead = true;
    const { code, message } = failure;
    warn("MILLRACE_RUN_FAILED", `${this.#runId} failed: ${code}: ${message}. ${whatToDo}`);
  }

  #read(): void {
    this.#isRead = true;
    this.#stopTimer?.();
    unread.delete(this);
  }

  #startTimer(): void {
    if (this.#iterations > 0) return;
    this.#stopTimer = this.#clock.after(unreadMs, () => this.warn(), { idle: true });
  }
}

const whatToDo =
  "The program did not read this: look at (await run.result).outcome, or use run.text() or run.textStream(), which throw; warnings: false in defineAgent turns this off";

const inspectSymbol = Symbol.for("nodejs.util.inspect.custom");

/** Failed runs whose outcome was not read yet. */
const unread = new Set<RunEnd>();

interface HostProcess {
  once?: (event: "beforeExit", listener: () => void) => void;
}
const { process: hostProcess } = globalThis as { readonly process?: HostProcess };

function warnOfAll(): void {
  for (const end of unread) end.warn();
}

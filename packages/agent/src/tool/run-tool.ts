import { MillraceError } from "@millrace/core";
import type { ResultStatus } from "@millrace/core";
import type { Clock } from "@millrace/core/ports";
import { describeIssues } from "@millrace/core/schema";
import { joined, messageOf, resultOf } from "./output.ts";
import type { ToolOutput } from "./output.ts";
import { createStreamed } from "./run-tool-streamed.ts";
import type { Streamed } from "./run-tool-streamed.ts";
import type { AnyTool, ToolAttachment, ToolExecution } from "../definition/tool.ts";

/** One execution of a tool. */
export interface RunToolOptions {
  readonly tool: AnyTool;
  /** What the call was assessed with. */
  readonly input: unknown;
  readonly execution: Omit<ToolExecution, "progress" | "append" | "attach" | "signal">;
  readonly clock: Clock;
  /** Left out: the tool's own limit, else none. */
  readonly seconds?: number | undefined;
  /** How long a tool may take to end after its signal aborts. Default: 2,000. */
  readonly graceMs?: number | undefined;
  /** UTF-8 bytes kept of what is streamed, and of what is returned: the first and the last half. */
  readonly storedBytes?: number | undefined;
  /** Receives text of the result as it comes. */
  readonly emit: (text: string) => void;
  /** Receives the tool's progress; the latest replaces the one before. */
  readonly report: (message: string) => void;
  /** Aborted when the run is stopped. */
  readonly signal: AbortSignal;
}

/** How an execution ended. */
export interface ToolOutcome extends ToolOutput {
  readonly status: ResultStatus;
  /** What the tool attached. Left out: nothing. */
  readonly attachments?: readonly ToolAttachment[];
}

const defaultGraceMs = 2_000;
const defaultStoredBytes = 512 * 1024;
/** Longer waits wrap around in the engines' timers, and would be over at once. */
const longestWaitMs = 2 ** 31 - 1;

/** How the tool itself ended. */
type Settled =
  | { readonly kind: "returned"; readonly value: unknown }
  | { readonly kind: "threw"; readonly error: unknown };

/** Why the tool's signal is aborted. */
type Halt = "timeout" | "abort";

/**
 * Runs a tool and gives its one outcome. What the tool does wrong is in the outcome; only a tool that
 * a client answers is refused, by throwing. A tool that ignores its aborted signal is abandoned after
 * the grace: the call is answered, and how the tool ends later is not recorded.
 *
 * The texts given to `emit` are together either nothing, or exactly the text of the outcome: what was
 * not streamed while it ran (the end of a long output, the message of a failure) is emitted at the
 * end. So a draft that was streamed can be committed with the outcome's text.
 */
export async function runTool(options: RunToolOptions): Promise<ToolOutcome> {
  const { tool, signal, clock, graceMs = defaultGraceMs } = options;
  if (tool.run === "client") {
    throw new MillraceError("invalid_definition", `the tool ${tool.name} is answered by a client`);
  }
  if (signal.aborted) return { status: "aborted", text: "aborted: stopped before it began" };
  const { storedBytes = defaultStoredBytes, seconds = tool.limits.seconds } = options;
  const streamed = createStreamed({ ...options, storedBytes });
  const complete = (ending: Ending): ToolOutcome => {
    const outcome = streamed.complete(ending);
    const attachments = streamed.attached();
    return attachments.length === 0 ? outcome : { ...outcome, attachments };
  };
  const stop = new AbortController();
  const over = new AbortController();
  try {
    // Subscribed before the tool starts, because the tool may stop its own run.
    const halting = halted({ signal, clock, seconds, over: over.signal });
    const work = perform(options, streamed, stop.signal);
    const first = await Promise.race([work, halting]);
    if (typeof first === "object") return complete(outcomeOf(first));
    stop.abort(reasonFor(first, seconds));
    // Two outcomes race here. A tool that returns within the grace has done its work, so its result
    // counts; a tool that doesn't is answered without one.
    const late = await Promise.race([work, clock.sleep(graceMs, over.signal)]);
    return complete(
      first === "abort"
        ? abortedOutcome(late ?? undefined, stop.signal.reason)
        : timeoutOutcome(late ?? undefined, stop.signal.reason),
    );
  } finally {
    over.abort();
  }
}

/** Never rejects, so that a caller which stops waiting leaves no unhandled rejection. */
async function perform(
  { tool, input, execution }: RunToolOptions,
  { append, attach, progress, close }: Streamed,
  signal: AbortSignal,
): Promise<Settled> {
  try {
    if (tool.run === "client") throw new TypeError("a client answers it"); // refused before
    let value: unknown;
    try {
      // The input is what the tool's own schema made, and that is what its function takes.
      value = await tool.run(input as never, { ...execution, append, attach, progress, signal });
    } finally {
      close();
    }
    return { kind: "returned", value: await checkReturned(tool, value) };
  } catch (error) {
    return { kind: "threw", error };
  }
}

/** What the output schema makes of it. Throws if that refuses it. */
async function checkReturned({ output }: AnyTool, value: unknown): Promise<unknown> {
  if (output === undefined) return value;
  const checked = await output["~standard"].validate(value);
  if (checked.issues === undefined) return checked.value;
  throw new TypeError(
    `it returned what its output schema refuses:\n${describeIssues(checked.issues)}`,
  );
}

/** Resolves when the run is stopped or the time is up. Holds nothing once it is over. */
function halted({
  signal,
  clock,
  seconds,
  over,
}: Pick<RunToolOptions, "signal" | "clock" | "seconds"> & {
  readonly over: AbortSignal;
}): Promise<Halt> {
  return new Promise((resolve) => {
    const abort = (): void => resolve("abort");
    signal.addEventListener("abort", abort, { once: true });
    over.addEventListener("abort", () => signal.removeEventListener("abort", abort), {
      once: true,
    });
    if (seconds === undefined || !Number.isFinite(seconds)) return;
    void clock.sleep(Math.min(seconds * 1_000, longestWaitMs), over).then(() => resolve("timeout"));
  });
}

function reasonFor(halt: Halt, seconds: number | undefined): DOMException {
  return halt === "abort"
    ? new DOMException("the run was stopped", "AbortError")
    : new DOMException(`took longer than ${seconds} s`, "TimeoutError");
}

/** Gives the outcome, once all that was streamed is known. */
type Ending = (streamed: string) => ToolOutcome;

function outcomeOf(settled: Settled): Ending {
  return (streamed) => {
    if (settled.kind === "threw") {
      return { status: "failed", text: joined(streamed, `failed: ${messageOf(settled.error)}`) };
    }
    const { problem, ...result } = resultOf(settled.value, streamed);
    if (problem === undefined) return { status: "ok", ...result };
    // A result that is `ok` has the output that the tool's type promises, so this one is not.
    return { status: "failed", text: joined(result.text, notJson(problem)) };
  };
}

function abortedOutcome(late: Settled | undefined, reason: unknown): Ending {
  if (late?.kind === "returned") return outcomeOf(late);
  return (streamed) => ({
    status: "aborted",
    text: joined(streamed, `aborted: the run was stopped${manner(late, reason)}`),
  });
}

/** For the model: the tool has done its work, and only its result is lost. */
export function notJson(problem: string): string {
  return `failed: it ran, but JSON can't hold what it returned: ${problem}`;
}

/** Too late is too late, but what it returned in the end may still be of use to the model. */
function timeoutOutcome(late: Settled | undefined, reason: unknown): Ending {
  return (streamed) => {
    const { text } =
      late?.kind === "returned" ? resultOf(late.value, streamed) : { text: streamed };
    const message = `failed: ${messageOf(reason)}${manner(late, reason)}`;
    return { status: "failed", text: joined(text, message) };
  };
}

/** How the tool reacted to the abort, if the model should know. */
function manner(late: Settled | undefined, reason: unknown): string {
  if (late === undefined)
    return ". It did not end when its signal aborted, and may still be at work";
  if (late.kind === "returned" || isAbort(late.error, reason)) return "";
  return `: ${messageOf(late.error)}`;
}

/** True for what tools throw only because their signal aborted. */
function isAbort(error: unknown, reason: unknown): boolean {
  if (error === reason) return true;
  return error instanceof Error && (error.name === "AbortError" || error.name === "TimeoutError");
}

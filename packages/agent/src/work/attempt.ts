import { abortedCause } from "@millrace/core/model";
import type {
  Clock,
  ModelRequest,
  ModelResponse,
  ModelStream,
  Remark,
  Reply,
} from "@millrace/core/ports";
import { redactedMessage } from "@millrace/core/secrets";
import type { Cause, Delta, Model, Usage } from "@millrace/core";
import type { Ending, Fault } from "@millrace/core/writing";
import type { WorkHost } from "./host.ts";
import type { ItemLane } from "./item-lane.ts";
import { watchForStall } from "./stall.ts";
import type { StallWatch } from "./stall.ts";

/** The end of one request to a model. Its content is the draft of its lane. */
export interface Attempted {
  readonly ending: Ending;
  readonly usage: Usage | undefined;
  readonly model: string;
  readonly response?: ModelResponse | undefined;
  /** What the model remarked beside its reply. */
  readonly remarks?: readonly Remark[] | undefined;
}

export type RequestOptions = Pick<
  ModelRequest,
  "signal" | "stall" | "retry" | "onBytes" | "notify"
>;

/** How long a model may take to stop after its signal was aborted. Then the attempt ends without it. */
const graceMs = 2_000;

/**
 * Sends one request to the model and writes its stream into the lane. Called for replies and summaries.
 * Never rejects: a failure is the ending. The caller keeps the lane and commits or drops it.
 *
 * The attempt also ends if the model makes no progress for too long, or does not stop within 2 s of an
 * abort; what the model writes after that is ignored. A delta that the lane refuses ends the attempt as
 * failed, because the item must equal what viewers saw.
 */
export async function attempt(
  { clock, agent }: Pick<WorkHost, "clock" | "agent">,
  model: Model,
  lane: ItemLane,
  asked: {
    readonly signal: AbortSignal;
    readonly request: (options: RequestOptions) => Promise<ModelRequest>;
  },
): Promise<Attempted> {
  const { signal } = asked;
  const stop = new AbortController();
  const done = new AbortController();
  signal.addEventListener("abort", () => stop.abort(signal.reason), {
    once: true,
    signal: done.signal,
  });
  if (signal.aborted) stop.abort(signal.reason);
  let watch: StallWatch | undefined;
  let fault: Fault | undefined;
  const remarks: Remark[] = [];
  const write = (delta: Delta): void => {
    watch?.moved();
    fault ??= lane.write(delta);
    if (fault !== undefined) stop.abort();
  };
  const read = async (): Promise<Attempted> => {
    const request = await asked.request({
      signal: stop.signal,
      retry: false, // the loop retries
      stall: false, // watched below
      onBytes: () => watch?.alive(),
      notify: (notice) => {
        if (notice.type === "remark") remarks.push(notice);
      },
    });
    if (!done.signal.aborted) {
      watch = watchForStall(clock, agent.stall, lane.publish, () => stop.abort());
    }
    const reply = await readAll(model.stream(request), write);
    const { parts: _, usage, model: id, response, ...ending } = reply;
    return { ending, usage, model: id, response, remarks };
  };
  try {
    const overdue = graceAfterAbort(clock, stop.signal, done.signal);
    const attempted = (await Promise.race([read(), overdue])) ?? aborted(model);
    if (fault !== undefined) return { ...attempted, ending: failedBy(faultCause(fault)) };
    const stalled = attempted.ending.stop === "aborted" ? watch?.stalled() : undefined;
    return stalled ? { ...attempted, ending: failedBy(stalledCauses[stalled]) } : attempted;
  } catch (error) {
    return { ...aborted(model), ending: failedBy(agentCause(error)) };
  } finally {
    watch?.stop();
    done.abort();
  }
}

/** `forEach` calls `write` inside the parser's call, so no microtask separates a delta from its bytes. */
async function readAll(stream: ModelStream, write: (delta: Delta) => void): Promise<Reply> {
  if (stream.forEach !== undefined) return await stream.forEach(write);
  for await (const delta of stream) write(delta);
  return await stream.result;
}

/** Resolves 2 s after `stop` is aborted, or when `done` is. */
async function graceAfterAbort(
  clock: Clock,
  stop: AbortSignal,
  done: AbortSignal,
): Promise<undefined> {
  await new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    stop.addEventListener("abort", () => resolve(), { once: true, signal: done });
  });
  await clock.sleep(graceMs, done);
  return undefined;
}

/** An attempt without a reply of its own: it ends as aborted, with unknown usage. */
function aborted({ id: model }: Model): Attempted {
  return { ending: { stop: "aborted", cause: abortedCause }, usage: undefined, model };
}

function failedBy(cause: Cause): Ending {
  return { stop: "failed", cause };
}

function faultCause({ code, message, partId }: Fault): Cause {
  return { code, message: `part ${partId}: ${message}` };
}

function agentCause(error: unknown): Cause {
  const message = `the agent's own code threw: ${redactedMessage(error)}`;
  return { code: "agent_failed", message };
}

const stalledCauses: Readonly<Record<"silent" | "alive", Cause>> = {
  silent: {
    code: "stalled",
    message: "nothing came from the model for too long, so the attempt was given up",
    retryable: true,
  },
  alive: {
    code: "stalled",
    message:
      "the vendor sent keep-alives and no progress for three times stall.giveUpAfterMs, so the attempt was given up. It is billed, and so would be another: raise stall.giveUpAfterMs if the model thinks for that long",
    retryable: false,
  },
};

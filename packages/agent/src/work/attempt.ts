import { abortedCause } from "@millrace/core/ports";
import type { Cause, Delta, Model, Usage } from "@millrace/core";
import type { Clock, ModelRequest, ModelStream, Reply } from "@millrace/core/ports";
import type { Ending, Fault } from "@millrace/core/writing";
import type { WorkHost } from "./host.ts";
import type { ItemLane } from "./item-lane.ts";
import { watchForStall } from "./stall.ts";
import type { StallWatch } from "./stall.ts";

/** What one request to a model came to. Its content is the draft of the lane, which viewers saw. */
export interface Attempted {
  readonly ending: Ending;
  readonly usage: Usage | undefined;
  readonly model: string;
}

export type RequestOptions = Pick<ModelRequest, "signal" | "stall" | "retry">;

/** A model whose signal was aborted has this long to stop; then the reply is what came until then. */
const graceMs = 2_000;

/**
 * One request, streamed into the lane. Never rejects: what fails is the ending. A model that does not
 * stop when its signal is aborted, or makes no progress for too long, is left behind. A delta that the
 * lane refuses ends the attempt as failed: nothing is committed that viewers did not see.
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
  const take = (delta: Delta): void => {
    watch?.moved();
    fault ??= lane.write(delta);
    if (fault !== undefined) stop.abort();
  };
  const read = async (): Promise<Attempted> => {
    const request = await asked.request({
      signal: stop.signal,
      retry: false, // the loop repeats
      stall: false, // the loop watches
    });
    if (!done.signal.aborted) {
      watch = watchForStall(clock, agent.stall, lane.tell, () => stop.abort());
    }
    const reply = await readAll(model.stream(request), take);
    const { parts: _, usage, model: id, ...ending } = reply;
    return { ending, usage, model: id };
  };
  try {
    const left = leaveBehind(clock, stop.signal, done.signal);
    const came = (await Promise.race([read(), left])) ?? cut(model);
    if (fault !== undefined) return { ...came, ending: failedBy(faultCause(fault)) };
    const gaveUp = watch?.stalled() === true && came.ending.stop === "aborted";
    return gaveUp ? { ...came, ending: failedBy(stalledCause) } : came;
  } catch (error) {
    return { ...cut(model), ending: failedBy(agentCause(error)) };
  } finally {
    watch?.stop();
    done.abort();
  }
}

/** Hands each delta over as the model makes it, where its stream can do that. */
async function readAll(stream: ModelStream, take: (delta: Delta) => void): Promise<Reply> {
  if (stream.forEach !== undefined) return await stream.forEach(take);
  for await (const delta of stream) take(delta);
  return await stream.result;
}

/** Resolves when a model whose signal was aborted has not stopped in time. */
async function leaveBehind(clock: Clock, stop: AbortSignal, done: AbortSignal): Promise<undefined> {
  await new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    stop.addEventListener("abort", () => resolve(), { once: true, signal: done });
  });
  await clock.sleep(graceMs, done);
  return undefined;
}

/** As if the request ended now. */
function cut({ id: model }: Model): Attempted {
  return { ending: { stop: "aborted", cause: abortedCause }, usage: undefined, model };
}

function failedBy(cause: Cause): Ending {
  return { stop: "failed", cause };
}

function faultCause({ code, message, partId }: Fault): Cause {
  return { code, message: `part ${partId}: ${message}` };
}

function agentCause(error: unknown): Cause {
  const said = error instanceof Error ? error.message : String(error);
  return { code: "agent_failed", message: `the agent's own code threw: ${said}` };
}

const stalledCause: Cause = {
  code: "stalled",
  message: "nothing came from the model for too long, so the attempt was given up",
  retryable: true,
};

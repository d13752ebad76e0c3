import { MillraceError } from "@millrace/core";
import type { InputId, RunEvent, RunId } from "@millrace/core";
import type { Schema } from "../schema/schema.ts";
import type { SessionHost } from "./session-host.ts";
import type { Acceptance, SentInput } from "./input.ts";
import { resultOf, textOrThrow } from "./result.ts";
import type { Run, RunResult } from "./run.ts";
import { eventsOf, narrationOf } from "./watch.ts";
import { noUsage } from "@millrace/core";

export interface RunParts {
  /** There already, or on its way: `agent.run` opens its session after it has answered. */
  readonly host: Promise<SessionHost>;
  readonly runId: RunId;
  readonly inputId: InputId;
  readonly accepted: Promise<Acceptance>;
  readonly output: Schema | undefined;
  readonly makeInputId: () => InputId;
}

/** A run as its sender sees it. Types of tools and output are the caller's to say. */
export function createRun(parts: RunParts): Run<never, never> {
  const { host, runId, inputId, accepted } = parts;
  const watched = { runId, inputId };
  const result = settle(parts);
  const events = async function* events(): AsyncGenerator<RunEvent, void> {
    if ((await accepted).accepted) yield* eventsOf(await host, watched);
  };
  const run: Run<never, unknown> = {
    id: runId,
    accepted,
    result,
    text: async () => textOrThrow(await result),
    narrate: async function* narrated() {
      if ((await accepted).accepted) yield* narrationOf(await host, watched);
    } as Run<never>["narrate"],
    until: async (type) => {
      for await (const event of events()) {
        // The type that was asked for is the one that was found.
        if (event.type === type) return event as never;
      }
      throw new MillraceError("refused", `the run ended without ${type}`);
    },
    abort: (reason) => abortRun(parts, reason),
    [Symbol.asyncIterator]: events as Run<never>[typeof Symbol.asyncIterator],
  };
  return run as Run<never, never>;
}

async function settle({
  host,
  accepted,
  runId,
  inputId,
  output,
}: RunParts): Promise<RunResult<unknown>> {
  const acceptance = await accepted;
  if (!acceptance.accepted) {
    return { outcome: "failed", error: acceptance.error, text: "", usage: noUsage };
  }
  return await resultOf(await host, { runId, inputId }, output);
}

/** A run that has not begun is taken back; one that has is stopped. */
function abortRun(
  { host, accepted, runId, inputId, makeInputId }: RunParts,
  reason?: string,
): SentInput {
  const id = makeInputId();
  const stop = async (): Promise<Acceptance> => {
    const acceptance = await accepted;
    if (!acceptance.accepted) return acceptance;
    const session = await host;
    if (session.ended(runId) !== undefined) return { accepted: true };
    const queued = session.journal.state.queue.some((one) => one.inputId === inputId);
    if (queued) {
      const taken = await session.say(`take_back_${inputId}`, async () => ({
        type: "queue_updated",
        inputId,
        change: "taken_back",
      }));
      if (taken.accepted) return taken;
    }
    const why = reason === undefined ? {} : { reason };
    return await session.say(id, async () => ({
      type: "input_accepted",
      inputId: id,
      input: { kind: "abort", runId, ...why },
    }));
  };
  return { id, accepted: stop() };
}

import { MillraceError } from "@millrace/core";
import type { Actor, InputId, RunEvent, RunId } from "@millrace/core";
import type { Schema } from "../schema/schema.ts";
import type { SessionHost } from "./session-host.ts";
import { acceptance } from "./acceptance.ts";
import type { Acceptance, Sent } from "./input.ts";
import { resultOf, textOrThrow } from "./result.ts";
import type { Run, RunResult } from "./run.ts";
import { eventsOf, narrationOf } from "./watch.ts";
import { noUsage } from "@millrace/core/writing";

export interface RunParts {
  /** A promise, because `agent.run` returns its run before its session is open. */
  readonly host: Promise<SessionHost>;
  readonly runId: RunId;
  readonly inputId: InputId;
  readonly accepted: Promise<Acceptance>;
  readonly output: Schema | undefined;
  /** The person for whom the run is stopped. */
  readonly actor: Actor | undefined;
}

/** Makes the `Run` of an input. The caller sets the types of tools and output. */
export function createRun(parts: RunParts): Run<never, never> {
  const { host, runId, inputId, accepted } = parts;
  const watched = { runId, inputId };
  // Waiting begins when the result is first read, so that a run that is only looked at costs nothing.
  let settled: Promise<RunResult<unknown>> | undefined;
  const result = (): Promise<RunResult<unknown>> => (settled ??= settle(parts));
  const events = async function* events(): AsyncGenerator<RunEvent, void> {
    if ((await accepted).accepted) yield* eventsOf(await host, watched);
  };
  const run: Run<never, unknown> = {
    id: runId,
    accepted,
    get result() {
      return result();
    },
    text: async () => textOrThrow(await result()),
    narrate: async function* narrated() {
      if ((await accepted).accepted) yield* narrationOf(await host, watched);
    } as Run<never>["narrate"],
    until: async (type) => {
      for await (const event of events()) {
        if (event.type === type) return event as never; // `type` selects the type of the event
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
    if (acceptance.error.code === "aborted")
      return { outcome: "aborted", text: "", usage: noUsage };
    return { outcome: "failed", error: acceptance.error, text: "", usage: noUsage };
  }
  return await resultOf(await host, { runId, inputId }, output);
}

/** Takes the input back if its run has not begun, else stops the run. */
function abortRun({ host, accepted, runId, actor }: RunParts, reason?: string): Sent {
  const stop = async (): Promise<Acceptance> => {
    const sent = await accepted;
    // An input whose sender stopped may be stored nevertheless: only its answer may be lost.
    if (!sent.accepted && sent.error.code !== "aborted") return sent;
    return await acceptance((await host).inbox.abort({ runId, reason, actor }));
  };
  return { accepted: stop() };
}

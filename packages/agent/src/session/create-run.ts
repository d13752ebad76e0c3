import { MillraceError } from "@millrace/core";
import type { Actor, InputId, Narration, RunEvent, RunId } from "@millrace/core";
import { callSiteOf } from "@millrace/core/checks";
import { noUsage } from "@millrace/core/writing";
import type { Schema } from "@millrace/core/schema";
import { acceptance } from "./acceptance.ts";
import type { Acceptance, Sent } from "./input.ts";
import { resultOf, textOrThrow } from "./result.ts";
import type { RunEnd } from "./run-end.ts";
import type { Run, RunResult } from "./run.ts";
import type { SessionHost } from "./session-host.ts";
import { stopReasonOf } from "./stop-reason.ts";
import { textsOf } from "./text-stream.ts";
import { eventsOf, narrationOf } from "./watch.ts";

export interface RunParts {
  /** A promise, because `agent.run` returns its run before its session is open. */
  readonly host: Promise<SessionHost>;
  readonly runId: RunId;
  readonly inputId: InputId;
  readonly accepted: Promise<Acceptance>;
  readonly output: Schema | undefined;
  /** The person for whom the run is stopped. */
  readonly actor: Actor | undefined;
  readonly signal: AbortSignal | undefined;
  /** Whether the sender reads a failure. */
  readonly end: RunEnd;
}

/** Makes the `Run` of an input. The caller sets the types of tools and output. */
export function createRun(parts: RunParts): Run<never, never> {
  const { host, runId, accepted, end } = parts;
  const watched = { runId, inputId: parts.inputId };
  // Waiting begins when the result is first read, so that a run that is only looked at costs nothing.
  let settled: Promise<RunResult<unknown>> | undefined;
  const settle = (): Promise<RunResult<unknown>> => (settled ??= settleRun(parts));
  let noticed: Promise<RunResult<unknown>> | undefined;
  const watch = (): AsyncGenerator<RunEvent, void> =>
    iterated(end, async function* events() {
      if ((await accepted).accepted) yield* eventsOf(await host, watched);
    });
  const narrate = (): AsyncGenerator<Narration, void> =>
    iterated(end, () => narrationToEnd(parts, settle));
  const run: Run<never, unknown> = {
    id: runId,
    get accepted() {
      end.acceptanceRead();
      return accepted;
    },
    get result() {
      noticed ??= settle().then((result) => noticedIfFailed(end, result));
      return noticed;
    },
    text: async function text() {
      const site = callSiteOf(text);
      const result = await settle();
      end.reported();
      return textOrThrow(result, site);
    },
    textStream: function textStream() {
      const site = callSiteOf(textStream);
      return textsOf(narrate(), async () => {
        const result = await settle();
        end.reported();
        textOrThrow(result, site);
      });
    },
    narrate: narrate as Run<never>["narrate"],
    until: async (type) => {
      for await (const event of watch()) {
        if (event.type === type) return event as never; // `type` selects the type of the event
      }
      throw new MillraceError("refused", `the run ended without ${type}`);
    },
    abort: (reason) => abortRun(parts, reason),
    [Symbol.asyncIterator]: watch as Run<never>[typeof Symbol.asyncIterator],
  };
  return run as Run<never, never>;
}

/** An iteration during which the run's end is not yet taken for unread. */
async function* iterated<T extends RunEvent | Narration>(
  end: RunEnd,
  iterate: () => AsyncGenerator<T, void>,
): AsyncGenerator<T, void> {
  const over = end.iterate();
  try {
    for await (const event of iterate()) {
      yield event.type === "run_finished" ? (noticedIfFailed(end, event) as T) : event; // a copy of it
    }
  } finally {
    over();
  }
}

function noticedIfFailed<T extends { readonly outcome: string }>(end: RunEnd, ended: T): T {
  return ended.outcome === "failed" ? end.noticing(ended) : ended;
}

/** The narration of the run. Its last event is the outcome, also of a run that was refused or is lost. */
async function* narrationToEnd(
  { host, runId, inputId, accepted }: RunParts,
  settle: () => Promise<RunResult<unknown>>,
): AsyncGenerator<Narration, void> {
  if ((await accepted).accepted) {
    for await (const narration of narrationOf(await host, { runId, inputId })) {
      yield narration;
      if (narration.type === "run_finished") return;
    }
  }
  yield { type: "run_finished", runId, ...outcomeOf(await settle()) };
}

function outcomeOf(result: RunResult<unknown>): RunOutcome {
  switch (result.outcome) {
    case "failed": {
      const { code, message } = result.error;
      return { outcome: "failed", cause: result.cause ?? { code, message } };
    }
    case "limited":
      return { outcome: "limited", limit: result.limit };
    case "aborted":
    case "completed":
      return { outcome: result.outcome };
    default:
      result satisfies never;
      return { outcome: "aborted" };
  }
}

type RunOutcome =
  Extract<Narration, { readonly type: "run_finished" }> extends infer Finished
    ? Finished extends unknown
      ? Omit<Finished, "type" | "runId">
      : never
    : never;

async function settleRun(parts: RunParts): Promise<RunResult<unknown>> {
  const { host, accepted, runId, inputId, output, signal } = parts;
  const acceptance = await accepted;
  if (!acceptance.accepted && acceptance.error.code !== "aborted")
    return { outcome: "failed", error: acceptance.error, text: "", usage: noUsage };
  const result: RunResult<unknown> = acceptance.accepted
    ? await resultOf(await host, { runId, inputId }, output)
    : { outcome: "aborted", text: "", usage: noUsage };
  if (result.outcome !== "aborted" || result.reason !== undefined) return result;
  // A prompt that was taken back has no stored reason, but its sender's signal has one.
  const reason = signal?.aborted === true ? stopReasonOf(signal) : undefined;
  return reason === undefined ? result : { ...result, reason };
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

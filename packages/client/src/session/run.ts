import { MillraceError } from "@millrace/core";
import type { Cause, RunId, Usage } from "@millrace/core";
import type { Acceptance, RunResult } from "@millrace/core/reading";
import { noUsage } from "@millrace/core/writing";
import { describeIssues } from "@millrace/core/schema";
import type { Schema } from "@millrace/core/schema";
import type { Answered } from "../http/requests.ts";
import type { WatchedSession } from "../stream/watched.ts";
import { changesOf, eventsOf, isOver, textOrThrow, textsOf } from "./run-events.ts";
import { errorOf } from "../http/requests.ts";
import type { ClientRun } from "./types.ts";

/** What a run of a client is made of. */
export interface RunParts {
  readonly runId: RunId;
  readonly accepted: Promise<Acceptance>;
  readonly session: WatchedSession;
  /** Watches the session until the result is called. */
  readonly watch: (listener: () => void) => () => void;
  /** Reads the run at the server. Rejects when the client is closed. */
  readonly read: () => Promise<Answered>;
  readonly abort: ClientRun["abort"];
  /** What the answer is checked by. */
  readonly output: Schema | undefined;
  /** Of the session: ends every wait for the run. */
  readonly closed: AbortSignal;
}

/** Makes a run. Nothing is watched or read until its result is asked for. The caller sets the types. */
export function createRun(parts: RunParts): ClientRun<never, never> {
  let result: Promise<RunResult<unknown>> | undefined;
  const settle = (): Promise<RunResult<unknown>> => (result ??= resultOf(parts));
  const iterated = { ...parts, settle };
  const run: ClientRun<never, unknown> = {
    id: parts.runId,
    accepted: parts.accepted,
    get result() {
      return settle();
    },
    text: async () => textOrThrow(await settle()),
    textStream: () => textsOf(iterated),
    until: async (type) => {
      for await (const event of eventsOf(iterated)) {
        if (event.type === type) return event as never; // `type` selects the type of the event
      }
      throw new MillraceError("refused", `the run ended without ${type}`);
    },
    abort: parts.abort,
    [Symbol.asyncIterator]: () => eventsOf(iterated) as AsyncGenerator<never>, // tools are known by type only
  };
  return run as ClientRun<never, never>;
}

async function resultOf(parts: RunParts): Promise<RunResult<unknown>> {
  const acceptance = await parts.accepted;
  const nothing = { text: "", usage: noUsage };
  if (!acceptance.accepted) {
    const { error } = acceptance;
    if (error.code === "aborted") return { outcome: "aborted", ...nothing };
    return { outcome: "failed", error, ...nothing };
  }
  try {
    return await resultOfJson(await untilEnded(parts), parts.output);
  } catch (error) {
    const known = MillraceError.is(error) ? error : undefined;
    return { outcome: "failed", error: known ?? closedError(), ...nothing };
  }
}

/** Watches the session; the run is read once it is neither on nor waiting, which is once, as a rule. */
async function untilEnded({ runId, session, watch, read, closed }: RunParts): Promise<RunJson> {
  for await (const _ of changesOf(watch, closed)) {
    if (!isOver(session, runId)) continue;
    const answered = await read();
    if (!answered.ok) throw errorOf(answered.problem);
    const run = answered.json as unknown as RunJson; // of our server
    if (run.status === "finished") return run;
  }
  throw closedError();
}

/** A run as the server answers it. */
interface RunJson {
  readonly status: string;
  readonly outcome?: "completed" | "aborted" | "limited" | "failed";
  readonly limit?: string;
  readonly cause?: Cause;
  readonly text: string;
  readonly output?: unknown;
  readonly usage: Usage;
}

async function resultOfJson(run: RunJson, schema?: Schema): Promise<RunResult<unknown>> {
  const { outcome, limit, cause, text, usage } = run;
  if (outcome === "completed" && schema !== undefined) {
    const [fault, output] = await checked(schema, run);
    if (fault === undefined) return { outcome, output, text, usage };
    const error = new MillraceError("invalid_output", fault);
    return { outcome: "failed", error, text, usage };
  }
  if (outcome === "completed") return { outcome, output: text, text, usage };
  if (outcome === "limited") return { outcome, limit: limit ?? "", text, usage };
  if (outcome !== "failed") return { outcome: "aborted", text, usage };
  const error = new MillraceError("provider_failed", cause?.message ?? "the run failed", { cause });
  return { outcome, error, text, usage, ...(cause !== undefined && { cause }) };
}

/** What is wrong with the answer of a run, or what its schema makes of it. */
async function checked(
  schema: Schema,
  run: RunJson,
): Promise<readonly [fault: string | undefined, output?: unknown]> {
  if (!("output" in run)) return ["the answer is not one JSON value"];
  try {
    const read = await schema["~standard"].validate(run.output);
    return read.issues === undefined ? [undefined, read.value] : [describeIssues(read.issues)];
  } catch (error) {
    return [`the schema could not check the answer: ${String(error)}`];
  }
}

function closedError(): MillraceError {
  return new MillraceError("closed", "the session is closed here");
}

import { MillraceError } from "@millrace/core";
import { withStackOf } from "@millrace/core/checks";
import type { CallSite } from "@millrace/core/checks";
import { noUsage } from "@millrace/core/writing";
import type { Cause, ErrorCode, InputId, RunId, Usage } from "@millrace/core";
import type { FactOf } from "@millrace/core/writing";
import { readOutput } from "../work/output.ts";
import type { Schema } from "@millrace/core/schema";
import type { SessionHost } from "./session-host.ts";
import type { RunResult } from "./run.ts";

/**
 * Waits for the end of a run and returns its result. Never rejects: a session that is closed here, was
 * removed or has a broken port is a result with an error. While the store is away it goes on waiting, unless a disk
 * refuses to write: that takes a person, so the caller gets the error, and the run goes on after it.
 */
export async function resultOf(
  host: SessionHost,
  run: { readonly runId: RunId; readonly inputId: InputId },
  schema: Schema | undefined,
): Promise<RunResult<unknown>> {
  const { runId, inputId } = run;
  const takenBack = (): "taken_back" | undefined =>
    host.takenBack(inputId) ? "taken_back" : undefined;
  await host.recall(run);
  const finished = await host.until(() => host.ended(runId) ?? takenBack() ?? host.stalled);
  const so = soFar(host, runId);
  const reason = host.journal.runs.get(runId)?.reason;
  if (finished instanceof MillraceError) return { outcome: "failed", error: finished, ...so };
  if (finished === undefined) {
    const error = host.over() ?? new MillraceError("closed", "the session is over");
    return { outcome: "failed", error, ...so };
  }
  if (finished === "taken_back") return { outcome: "aborted", ...so };
  const result = await endedResult(finished, so, schema);
  return result.outcome === "aborted" && reason !== undefined ? { ...result, reason } : result;
}

async function endedResult(
  finished: FactOf<"run_finished">,
  so: { readonly text: string; readonly usage: Usage },
  schema: Schema | undefined,
): Promise<RunResult<unknown>> {
  switch (finished.outcome) {
    case "aborted":
      return { outcome: "aborted", ...so };
    case "limited":
      return { outcome: "limited", limit: finished.limit, ...so };
    case "failed":
      return { outcome: "failed", error: errorOf(finished.cause), cause: finished.cause, ...so };
    case "completed": {
      if (schema === undefined) return { outcome: "completed", output: so.text, ...so };
      const read = await readOutput(schema, so.text);
      if (read.valid) return { outcome: "completed", output: read.output, ...so };
      // A driver in another process has no schema, so it did not check the answer.
      return { outcome: "failed", error: new MillraceError("invalid_output", read.message), ...so };
    }
    default:
      finished satisfies never;
      return { outcome: "aborted", ...so };
  }
}

/** The text of a completed run. Throws for every other outcome, with the stack of the caller. */
export function textOrThrow(result: RunResult<unknown>, site: CallSite): string {
  switch (result.outcome) {
    case "completed":
      return result.text;
    case "aborted": {
      const { reason } = result;
      const why = reason === undefined ? "" : `: ${reason}`;
      const cause = reason === undefined ? {} : { cause: { code: "aborted", message: reason } };
      throw thrownAt(
        site,
        "aborted",
        `the run was stopped${why}; what came is in its result`,
        cause,
      );
    }
    case "limited":
      throw thrownAt(site, "limit_reached", `the run ended at its limit: ${result.limit}`);
    case "failed": {
      const { code, message, cause } = result.error;
      throw thrownAt(site, code, message, { cause });
    }
    default:
      result satisfies never;
      return "";
  }
}

function thrownAt(
  site: CallSite,
  code: ErrorCode,
  message: string,
  options?: ErrorOptions,
): MillraceError {
  return withStackOf(site, new MillraceError(code, message, options));
}

/** The text of the run so far, and the usage of all its attempts. */
function soFar(
  { journal }: SessionHost,
  runId: RunId,
): { readonly text: string; readonly usage: Usage } {
  const { text = "", usage = noUsage } = journal.runs.get(runId) ?? {};
  return { text, usage };
}

function errorOf(cause: Cause): MillraceError {
  const own: readonly ErrorCode[] = ["agent_failed", "driver_lost", "invalid_output"];
  const code = own.find((known) => known === cause.code) ?? "provider_failed";
  return new MillraceError(code, cause.message, { cause });
}

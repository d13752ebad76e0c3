import { ApplicationFailure, Context } from "@temporalio/activity";
import type { ActivityInterceptorsFactory } from "@temporalio/worker";
import type { EngineWriter, ProgramEnding, Written } from "@millrace/agent/engine";
import type { Item, Model } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import { sessionIn } from "../session-header.ts";
import type { ActivitySession, WorkflowEnding } from "../session-header.ts";
import { beating, contextOf, executionOf, failureOf } from "../worker/activity-context.ts";
import type { OpenSessions } from "../worker/open-sessions.ts";

/** How long to wait for another driver that has the session. */
const drivenMs = 2_000;

const sessions = new WeakMap<Context, SessionOfActivity>();

/** The session of the activity that is called now. Undefined in any other code, and without a session. */
export function currentSession(): SessionOfActivity | undefined {
  try {
    return sessions.get(Context.current());
  } catch {
    return undefined; // in no activity
  }
}

/** One activity, as far as it writes a session. */
export class SessionOfActivity {
  readonly #session: ActivitySession;
  readonly #writers: OpenSessions<EngineWriter>;
  #hasAsked = false;
  /** What the activity fails with, however the framework wraps errors. */
  failure: Error | undefined;

  constructor(session: ActivitySession, writers: OpenSessions<EngineWriter>) {
    this.#session = session;
    this.#writers = writers;
  }

  /** Streams and stores one reply. Undefined if there is none to go on with: see `failure`. */
  async write(model: Model, request: ModelRequest): Promise<Item | undefined> {
    if (this.#hasAsked) {
      const why = "an activity asks for one reply, so that a repeat of it finds the reply stored";
      throw (this.failure = ApplicationFailure.nonRetryable(`${why}: use another activity`));
    }
    this.#hasAsked = true;
    using _ = beating();
    try {
      const writer = await this.#writer();
      const { lane } = this.#session;
      const written = await writer.write({ ...this.#step(), lane, model, request }, contextOf());
      if (written.outcome === "written") return written.item;
      this.failure = failureFrom(written);
    } catch (error) {
      this.failure ??= failureOf(error);
    }
    return undefined;
  }

  async finish(ending: ProgramEnding): Promise<void> {
    const writer = await this.#writer();
    const { outcome } = await writer.finish(this.#step(), ending, contextOf());
    if (outcome === "driven") throw driven();
  }

  async #writer(): Promise<EngineWriter> {
    const writer = await this.#writers.of(this.#session);
    if (writer !== undefined) return writer;
    const message = `the session ${this.#session.sessionId} of this workflow is not there`;
    throw ApplicationFailure.nonRetryable(message, "UnknownSession");
  }

  #step(): Pick<ActivitySession, "fresh" | "generation"> & { by: string; attempt: number } {
    const { info } = Context.current();
    const { fresh, generation } = this.#session;
    return { by: executionOf(info).runId, attempt: info.attempt, fresh, generation };
  }
}

/** Reads the session's header before each activity, and has the last word on how it fails. */
export function activityInterceptors(
  writers: OpenSessions<EngineWriter>,
): ActivityInterceptorsFactory {
  return (context) => ({
    inbound: {
      execute: async (input, next) => {
        const named = sessionIn(input.headers);
        if (named === undefined) return await next(input);
        const session = new SessionOfActivity(named, writers);
        sessions.set(context, session);
        try {
          return await next(input);
        } catch (error) {
          throw session.failure ?? error;
        }
      },
    },
  });
}

/** The activity that ends the session's run with its workflow. */
export async function finishRun(ending: WorkflowEnding): Promise<void> {
  await currentSession()?.finish(
    ending.outcome === "failed"
      ? { outcome: "failed", cause: { code: "workflow_failed", message: ending.message } }
      : { outcome: ending.outcome },
  );
}

function failureFrom(written: Exclude<Written, { readonly outcome: "written" }>): Error {
  switch (written.outcome) {
    case "stopped":
      return ApplicationFailure.nonRetryable("a person has stopped the run", "Stopped");
    case "superseded": {
      const message = "another driver has the session, or its run is over";
      return ApplicationFailure.nonRetryable(message, "Superseded");
    }
    case "driven":
      return driven();
    case "failed": {
      const { cause, retryInMs } = written;
      const message = `${cause.code}: ${cause.message}`;
      if (retryInMs === undefined) return ApplicationFailure.nonRetryable(message, "ModelFailed");
      return ApplicationFailure.create({ message, type: "ModelFailed", nextRetryDelay: retryInMs });
    }
    default:
      written satisfies never;
      return new Error("nothing was written");
  }
}

function driven(): Error {
  const message = "another driver that lives has the session";
  return ApplicationFailure.create({ message, type: "Driven", nextRetryDelay: drivenMs });
}

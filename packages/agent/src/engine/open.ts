import type { BlobStore, Clock, EventLog, SessionRecord, SessionStore } from "@millrace/core/ports";
import { randomId, systemClock } from "@millrace/core/memory";
import { defineAgent, definitionOf } from "../define/define-agent.ts";
import type { Agent } from "../define/agent.ts";
import type { LocalDriver, MakeDriver } from "../session/host-options.ts";
import { SessionHost } from "../session/session-host.ts";
import { StepDriver } from "./step-driver.ts";
import type { NotClaimed, ProgramStep, StepAnswer, StepContext, StepRequest } from "./step.ts";
import type { WriteRequest, Written } from "./step.ts";
import { Writer } from "./writer.ts";
import type { ProgramEnding } from "./written-facts.ts";

/** A session that an engine drives, in one of its workers. */
export interface EngineSession extends AsyncDisposable {
  /** Performs one step. Rejects if it was lost or could not be ended: the engine repeats it. */
  readonly step: (request: StepRequest, context: StepContext) => Promise<StepAnswer>;
  /**
   * Called when an engine's run, by the name of `StepRequest.by`, was ended from outside: stores that it has left the
   * session, so that another one can go on at once. Stores nothing if the run of the session is over, or another
   * claim holds.
   */
  readonly release: (by: string) => Promise<void>;
  /** True while a step is in progress here. */
  readonly isBusy: () => boolean;
  /** True once a port broke its contract or the session was removed: open it again. */
  readonly isOver: () => boolean;
  /** Stops its work without storing it. The engine repeats the step elsewhere. */
  readonly close: () => Promise<void>;
}

/** Which session an engine drives by which agent, and where it is stored. */
export interface EngineSessionOptions {
  readonly agent: Agent;
  readonly record: SessionRecord;
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly blobs?: BlobStore | undefined;
  readonly clock?: Clock | undefined;
}

/** A session that a program of one's own writes, in one of the workers of an engine. */
export interface EngineWriter extends AsyncDisposable {
  /** Streams and stores one reply. Rejects if the step was lost: the engine repeats it. */
  readonly write: (request: WriteRequest, context: StepContext) => Promise<Written>;
  /** Ends the run that the program has begun, if it is on. */
  readonly finish: (
    step: ProgramStep,
    ending: ProgramEnding,
    context: StepContext,
  ) => Promise<NotClaimed | { readonly outcome: "finished" }>;
  /** True while a reply is written here. */
  readonly isBusy: () => boolean;
  /** True once a port broke its contract or the session was removed: open another writer. */
  readonly isOver: () => boolean;
  /** Stops its work without storing it. The engine repeats the step elsewhere. */
  readonly close: () => Promise<void>;
}

/** Opens a session for the steps of an engine: reads it, and follows its facts. Claims nothing by itself. */
export async function openEngineSession(options: EngineSessionOptions): Promise<EngineSession> {
  const { host, driver } = await openDriver(
    options,
    (work, onBroken) => new StepDriver(work, onBroken),
  );
  const step = async (request: StepRequest, context: StepContext): Promise<StepAnswer> => {
    const over = host.over();
    if (over?.code === "unknown_session") return { outcome: "gone" };
    if (over !== undefined) throw over;
    return await driver.step(request, context);
  };
  return { step, release: (by) => driver.release(by), ...lifeOf(host, driver) };
}

/** Opens a writer: reads the session, and follows its facts. Claims nothing by itself. */
export async function openWriter(
  options: Omit<EngineSessionOptions, "agent">,
): Promise<EngineWriter> {
  const { host, driver } = await openDriver(
    { ...options, agent: respondsNever },
    (work) => new Writer(work),
  );
  const opened = (): Writer => {
    const over = host.over();
    if (over !== undefined) throw over;
    return driver;
  };
  return {
    write: async (request, context) => await opened().write(request, context),
    finish: async (step, ending, context) => await opened().finish(step, ending, context),
    ...lifeOf(host, driver),
  };
}

/** The program answers by itself: to the session it is an agent with a `respond` that is never called. */
const respondsNever = defineAgent({ respond: async () => undefined });

async function openDriver<Driver extends LocalDriver>(
  { agent, record, store, log, blobs, clock = systemClock }: EngineSessionOptions,
  makeDriver: (...given: Parameters<MakeDriver>) => Driver,
): Promise<{ readonly host: SessionHost; readonly driver: Driver }> {
  const made = Promise.withResolvers<Driver>();
  const host = await SessionHost.open({
    ...definitionOf(agent),
    record,
    store,
    log,
    blobs,
    clock,
    makeId: randomId,
    ask: "wait",
    drive: true,
    makeDriver: (...given) => {
      const driver = makeDriver(...given);
      made.resolve(driver);
      return driver;
    },
  });
  return { host, driver: await made.promise };
}

function lifeOf(
  host: SessionHost,
  driver: { readonly isBusy: boolean },
): Pick<EngineSession, "isBusy" | "isOver" | "close" | typeof Symbol.asyncDispose> {
  const close = (): Promise<void> => host.close();
  return {
    isBusy: () => driver.isBusy,
    isOver: () => host.over() !== undefined,
    close,
    [Symbol.asyncDispose]: close,
  };
}

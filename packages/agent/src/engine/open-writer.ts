import { randomId, systemClock } from "@millrace/core/memory";
import { defineAgent, definitionOf } from "../define/define-agent.ts";
import { SessionHost } from "../session/session-host.ts";
import type { SeatOptions } from "./open-seat.ts";
import type { StepContext } from "./step.ts";
import type { NotHeld, ProgramStep, WriteRequest, Written } from "./write.ts";
import { Writer } from "./writer.ts";
import type { ProgramEnding } from "./written-facts.ts";

/** A session that a program of one's own writes, in one of the workers of an engine. */
export interface EngineWriter extends AsyncDisposable {
  /** Streams and stores one reply. Rejects if the step was lost: the engine repeats it. */
  readonly write: (request: WriteRequest, context: StepContext) => Promise<Written>;
  /** Ends the run that the program has begun, if it is on. */
  readonly finish: (
    step: ProgramStep,
    ending: ProgramEnding,
    context: StepContext,
  ) => Promise<NotHeld | { readonly outcome: "finished" }>;
  /** True while a reply is written here. */
  readonly isBusy: () => boolean;
  /** True once a port broke its contract or the session was removed: open another writer. */
  readonly isOver: () => boolean;
  /** Stops its work without storing it. The engine repeats the step elsewhere. */
  readonly close: () => Promise<void>;
}

/** Opens a writer: reads the session, and hears of its facts from then on. Claims nothing by itself. */
export async function openWriter(options: Omit<SeatOptions, "agent">): Promise<EngineWriter> {
  const { record, store, log, blobs, clock = systemClock } = options;
  let writer: Writer | undefined;
  const host = await SessionHost.open({
    ...definitionOf(nobody),
    record,
    store,
    log,
    blobs,
    clock,
    makeId: randomId,
    ask: "wait",
    drive: true,
    makeDriver: (work) => (writer = new Writer(work)),
  });
  const opened = (): Writer => {
    const over = host.over();
    if (over !== undefined || writer === undefined) throw over ?? new Error("no writer was made");
    return writer;
  };
  const close = (): Promise<void> => host.close();
  return {
    write: async (request, context) => await opened().write(request, context),
    finish: async (step, ending, context) => await opened().finish(step, ending, context),
    isBusy: () => writer?.isBusy === true,
    isOver: () => host.over() !== undefined,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The program answers by itself: to the session it is an agent with a `respond` that is never called. */
const nobody = defineAgent({ respond: async () => undefined });

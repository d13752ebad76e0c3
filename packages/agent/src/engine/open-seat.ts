import type { BlobStore, Clock, EventLog, SessionRecord, SessionStore } from "@millrace/core/ports";
import { randomId, systemClock } from "@millrace/core/memory";
import { definitionOf } from "../define/define-agent.ts";
import type { Agent } from "../define/agent.ts";
import { SessionHost } from "../session/session-host.ts";
import { Seat } from "./seat.ts";
import type { StepAnswer, StepContext, StepRequest } from "./step.ts";

/** A session that an engine drives, in one of its workers. */
export interface EngineSeat extends AsyncDisposable {
  /** Performs one step. Rejects if it was lost or could not be ended: the engine repeats it. */
  readonly step: (request: StepRequest, context: StepContext) => Promise<StepAnswer>;
  /** True while a step is in progress here. */
  readonly isBusy: () => boolean;
  /** True once a port broke its contract or the session was removed: open another seat. */
  readonly isOver: () => boolean;
  /** Stops its work without storing it. The engine repeats the step elsewhere. */
  readonly close: () => Promise<void>;
}

/** Whose session a seat is for, and where it is stored. */
export interface SeatOptions {
  readonly agent: Agent;
  readonly record: SessionRecord;
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly blobs?: BlobStore | undefined;
  readonly clock?: Clock | undefined;
}

/** Opens a seat: reads the session, and hears of its facts from then on. Claims nothing by itself. */
export async function openSeat(options: SeatOptions): Promise<EngineSeat> {
  const { agent, record, store, log, blobs, clock = systemClock } = options;
  let seat: Seat | undefined;
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
    makeDriver: (work, onBroken) => {
      seat = new Seat(work, onBroken);
      return seat;
    },
  });
  const close = (): Promise<void> => host.close();
  const step = async (request: StepRequest, context: StepContext): Promise<StepAnswer> => {
    const over = host.over();
    if (over?.code === "unknown_session") return { outcome: "gone" };
    if (over !== undefined || seat === undefined) throw over ?? new Error("the seat has no driver");
    return await seat.step(request, context);
  };
  return {
    step,
    isBusy: () => seat?.isBusy === true,
    isOver: () => host.over() !== undefined,
    close,
    [Symbol.asyncDispose]: close,
  };
}

import type { RunId } from "@millrace/core";
import { runId } from "@millrace/core/writing";
import { createHub } from "../hub/hub.ts";
import type { Hub } from "../hub/hub.ts";
import type { DeliverOptions, HubOptions, DeliveredEnd } from "../hub/options.ts";
import { RecordingSink } from "./recording-sink.ts";
import { name, SessionFixture } from "./session-fixture.ts";

/** The run that the session of a fixture has open. */
export const openRun: RunId = runId("run_1");

/** A session, its hub, and streams of it. */
export interface StreamFixture {
  readonly session: SessionFixture;
  readonly hub: Hub;
  /** Lets that much time pass, and what it sets off happen. */
  readonly settle: (ms?: number) => Promise<void>;
  readonly open: (options?: Partial<DeliverOptions>) => Opened;
}

export interface Opened {
  readonly sink: RecordingSink;
  /** How it ended, or its error. */
  readonly ended: Promise<DeliveredEnd | Error>;
}

export async function openStreamFixture(options: Partial<HubOptions> = {}): Promise<StreamFixture> {
  const session = await SessionFixture.open();
  const { store, log, clock, uid } = session;
  const hub = createHub({ store, log, clock, random: () => 0.5, ...options });
  return {
    session,
    hub,
    settle: async (ms = 1) => {
      await clock.advance(ms);
      // A delivery flushes in a tick, so a turn of the event loop lets it run.
      await new Promise(setImmediate);
    },
    open: (delivered = {}) => {
      const sink = new RecordingSink();
      const ended = hub
        .deliver({ uid, sessionId: name, ...delivered }, sink)
        .catch((error: unknown) => error as Error);
      return { sink, ended };
    },
  };
}

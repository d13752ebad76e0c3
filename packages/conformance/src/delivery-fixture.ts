import type { SessionUid } from "@millrace/core";
import type { Clock, EventLog, SessionStore } from "@millrace/core/ports";
import type { follow } from "@millrace/core/reading";
import type { OpenEventLogOptions } from "./event-log-fixture.ts";

/** A store and a log that work together, and a clock that the cases move. */
export interface DeliveryFixture {
  readonly open: (options?: OpenEventLogOptions) => Promise<OpenedDelivery>;
}

/** Store, log, clock and reader of one case. Disposed of when the case is over. */
export interface OpenedDelivery extends AsyncDisposable {
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly clock: MovableClock;
  /** What viewers read through. Left out: the reader of core. */
  readonly follow?: typeof follow | undefined;
}

/** Time passes only when a case says so, so that waiting for a poll takes no time. */
export interface MovableClock extends Clock {
  /** Moves time on, waking sleepers in the order of their times. */
  readonly advance: (ms: number) => Promise<void>;
}

/** As DeliveryFixture, with a log that can be made to forget. */
export interface LosableDeliveryFixture {
  readonly open: (options?: OpenEventLogOptions) => Promise<LosableDelivery>;
}

/** A delivery under test whose log can be made to lose what it holds. */
export interface LosableDelivery extends OpenedDelivery {
  readonly lose: (uid: SessionUid, lane?: number) => Promise<void>;
}

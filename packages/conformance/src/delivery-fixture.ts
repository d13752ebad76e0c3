import type { SessionState, SessionUid } from "@millrace/core";
import type { Clock, EventLog, SessionStore } from "@millrace/core/ports";
import type { Followed, FollowOptions } from "@millrace/core/reading";
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
  /** The reader of the viewers. Default: that of core. */
  readonly follow?: DeliveryFollow | undefined;
}

/** Reads a session for a viewer, as core's `follow` does. */
export type DeliveryFollow = (
  options: FollowOptions & {
    /** What the viewer holds at its cursor. Left out: the case has made up the cursor. */
    readonly state?: SessionState | undefined;
  },
) => AsyncGenerator<Followed, void, undefined>;

/** A clock that only the cases advance, so that waiting for a poll takes no real time. */
export interface MovableClock extends Clock {
  /** Advances the time, and wakes sleepers in the order of their times. */
  readonly advance: (ms: number) => Promise<void>;
}

/** As DeliveryFixture, with a log that can lose data on demand. */
export interface LosableDeliveryFixture {
  readonly open: (options?: OpenEventLogOptions) => Promise<LosableDelivery>;
}

/** A delivery under test whose log can be made to lose what it holds. */
export interface LosableDelivery extends OpenedDelivery {
  readonly lose: (uid: SessionUid, lane?: number) => Promise<void>;
}

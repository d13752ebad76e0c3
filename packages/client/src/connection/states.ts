/** Where the one connection of a client is. */
export type StateName =
  /** No session is watched. */
  | "idle"
  /** A request is under way. */
  | "opening"
  /** The headers of a stream came, and no byte of its body. */
  | "opened"
  /** Bytes come. In the JSON form: answers come. */
  | "live"
  /** The connection broke, or was ended by the server. It is opened again after a pause. */
  | "waiting"
  /** The credentials have expired, and new ones are asked for. */
  | "renewing"
  /** The device has no network. */
  | "offline"
  /** The page is in the back/forward cache, or frozen. */
  | "frozen"
  /** The server refuses for good. Only a person, or another set of sessions, tries again. */
  | "refused"
  /** The client was closed. Nothing leaves this state. */
  | "closed";

/** A timer, by the event that it fires. At most one of each runs. */
export type TimerName =
  /** No headers came. */
  | "open_timeout"
  /** Headers came and no byte after them: a proxy holds the body back. */
  | "mute_timeout"
  /** No byte came, no heartbeat either. */
  | "silence_timeout"
  /** The connection has lasted: failures before it no longer count. */
  | "steady_timeout"
  /** The pause is over. */
  | "retry_timeout"
  /** New credentials did not come. */
  | "renew_timeout"
  /** The JSON form was used long enough to try a stream again. */
  | "again_timeout";

/** What a state owns while it lasts. `connection`: one, and only these states have one. */
export interface StateRule {
  readonly holds: "connection" | "renewal" | "nothing";
  /** Started when the state is entered, cleared when it is left. */
  readonly timers: readonly TimerName[];
}

/** Every state. A connection is opened by entering `opening`, and nowhere else. */
export const states: Readonly<Record<StateName, StateRule>> = {
  idle: { holds: "nothing", timers: [] },
  opening: { holds: "connection", timers: ["open_timeout"] },
  opened: { holds: "connection", timers: ["mute_timeout"] },
  live: { holds: "connection", timers: ["silence_timeout", "steady_timeout"] },
  waiting: { holds: "nothing", timers: ["retry_timeout"] },
  renewing: { holds: "renewal", timers: ["renew_timeout"] },
  offline: { holds: "nothing", timers: [] },
  frozen: { holds: "nothing", timers: [] },
  refused: { holds: "nothing", timers: [] },
  closed: { holds: "nothing", timers: [] },
};

/** How often a connection has a byte at least, unless its server names another time. */
export const usualHeartbeatMs = 15_000;

/**
 * How long each timer runs, in milliseconds. The pause of `retry_timeout` is drawn anew each time. The connector
 * scales `silence_timeout` by the heartbeat that a server names.
 */
export const durations: Readonly<Record<Exclude<TimerName, "retry_timeout">, number>> = {
  open_timeout: 15_000,
  mute_timeout: 5_000,
  silence_timeout: 3 * usualHeartbeatMs,
  steady_timeout: 5_000,
  renew_timeout: 30_000,
  again_timeout: 600_000,
};

/** After a sleep the connection may be dead without a sign: its next heartbeat must come within this. */
export const probeMs = 20_000;

/**
 * The least range of a pause after a failure, and the greatest: after an outage everybody is back within it.
 */
export const pauseRange = { leastMs: 500, mostMs: 10_000 } as const;

/** The longest range that a server may ask for by `retry:`: it has many readers to bring back. */
export const retryMostMs = 30_000;

/** The longest `Retry-After` that is believed. */
export const retryAfterMostMs = 300_000;

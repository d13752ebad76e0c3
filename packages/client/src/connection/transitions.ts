import type { StreamEndReason } from "@millrace/core/wire";
import { durations, probeMs } from "./states.ts";
import type { StateName, TimerName } from "./states.ts";

/** An event, by what it means to the connection. `lost`, `unauthorized` and `stopped` are kinds of ends. */
export type EventName =
  | "watch"
  | "unwatch"
  | "online"
  | "offline"
  | "freeze"
  | "thaw"
  | "shown"
  | "reconnect"
  | "answered"
  | "close"
  | "opened"
  | "bytes"
  | "renewed"
  | EndName
  | TimerName;

/** What follows from an end: a pause and another try, new credentials, or nothing more. */
export type EndName = "lost" | "unauthorized" | "stopped";

/** Why a stream ended: as the server named it, or because its messages are of a version that can't be read. */
export type EndReason = StreamEndReason | "unsupported_version";

/** What follows from the reasons of a stream's end that are not `lost`. */
export const endings: Readonly<Partial<Record<EndReason, EndName>>> = {
  expired: "unauthorized",
  revoked: "stopped",
  removed: "stopped",
  not_found: "stopped",
  unsupported_version: "stopped",
};

/** Statuses of 4xx that are worth another try. All other ones of 4xx stay what they are. */
const passing: ReadonlySet<number> = new Set([408, 425, 429]);

/** What follows from a status that is not 2xx. */
export function endOfStatus(status: number): EndName {
  if (status === 401) return "unauthorized";
  return status >= 400 && status < 500 && !passing.has(status) ? "stopped" : "lost";
}

/** A change of what the connection remembers. */
export type EffectName =
  /** Failures before no longer count. */
  | "forgive"
  /** One more failure, and how long the next pause is. */
  | "count"
  /** A stream without a byte. The second one in a row changes to the JSON form. */
  | "mute"
  /** Bytes came: nothing holds them back. */
  | "received"
  /** The JSON form is silent too, or was used for long: streams again. */
  | "stream"
  | "steady"
  | "renewing";

/** What one event does in one state. */
export interface Rule {
  /** What the connection remembers, and must not be so. */
  readonly unless?: "renewed" | "patient";
  /** `same`: only `do` and `silenceMs`. `next`: `opening`, or the state in which it can't be. */
  readonly to: StateName | "same" | "next";
  readonly do?: readonly EffectName[];
  /** Waits so long for the next byte, from now on. */
  readonly silenceMs?: number;
}

type Rules = Readonly<Partial<Record<EventName, readonly Rule[]>>>;

/** In every state but `closed`. */
const always: Rules = {
  close: [{ to: "closed" }],
  unwatch: [{ to: "next" }],
  offline: [{ to: "next" }],
  freeze: [{ to: "next" }],
  again_timeout: [{ to: "same", do: ["stream"] }],
};

/** The ends of a connection, and of asking for credentials. */
const ends: Rules = {
  lost: [{ to: "waiting", do: ["count"] }],
  unauthorized: [
    { unless: "renewed", to: "renewing", do: ["renewing"] },
    // Renewed a moment ago: it would not help.
    { to: "refused" },
  ],
  stopped: [{ to: "refused" }],
};

/** While a connection is held. Another set of sessions, and another form, need another connection. */
const connected: Rules = {
  ...always,
  ...ends,
  watch: [{ to: "opening" }],
  again_timeout: [{ to: "opening", do: ["stream"] }],
};

/**
 * Every transition. An event that a state does not list changes nothing there but flags (`wanted`,
 * `online`, `awake`). Of several rules the first whose condition holds counts.
 */
export const transitions: Readonly<Record<StateName, Rules>> = {
  idle: { ...always, watch: [{ to: "next" }] },
  opening: {
    ...connected,
    opened: [{ to: "opened" }],
    bytes: [{ to: "live", do: ["received"] }],
    open_timeout: [{ to: "waiting", do: ["mute", "count"] }],
  },
  opened: {
    ...connected,
    bytes: [{ to: "live", do: ["received"] }],
    mute_timeout: [{ to: "opening", do: ["mute"] }],
  },
  live: {
    ...connected,
    bytes: [{ to: "same", silenceMs: durations.silence_timeout }],
    steady_timeout: [{ to: "same", do: ["steady", "forgive"] }],
    silence_timeout: [{ to: "waiting", do: ["stream", "count"] }],
    shown: [{ to: "same", silenceMs: probeMs }],
    online: [{ to: "same", silenceMs: probeMs }],
    // A person sees that it stands still, before its silence says so.
    reconnect: [{ to: "opening" }],
    // The server closed a stream of expired credentials; twice in a row that is a failure like others.
    unauthorized: [
      { unless: "renewed", to: "renewing", do: ["renewing"] },
      { to: "waiting", do: ["count"] },
    ],
  },
  waiting: {
    ...always,
    retry_timeout: [{ to: "opening" }],
    // Somebody looks, or the network is back. A server that named its time is left alone until then.
    shown: [{ unless: "patient", to: "opening" }],
    online: [{ unless: "patient", to: "opening" }],
    reconnect: [{ unless: "patient", to: "opening" }],
    answered: [{ unless: "patient", to: "opening" }],
  },
  renewing: {
    ...always,
    ...ends,
    unauthorized: [{ to: "refused" }],
    renewed: [{ to: "opening" }],
    renew_timeout: [{ to: "waiting", do: ["count"] }],
  },
  offline: { ...always, online: [{ to: "next", do: ["forgive"] }] },
  frozen: { ...always, thaw: [{ to: "next", do: ["forgive"] }] },
  refused: {
    ...always,
    watch: [{ to: "opening", do: ["forgive"] }],
    reconnect: [{ to: "opening", do: ["forgive"] }],
  },
  closed: {},
};

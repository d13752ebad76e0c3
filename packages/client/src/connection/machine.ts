import { durations, pauseRange, retryAfterMostMs, retryMostMs, states } from "./states.ts";
import type { StateName, TimerName } from "./states.ts";
import { endOfStatus, endings, transitions } from "./transitions.ts";
import type { EffectName, EndReason, EventName, Rule } from "./transitions.ts";

/** How messages come: as one stream, or, where a proxy holds streams back, as JSON by long polling. */
export type Form = "stream" | "json";

/** The connection of a client as a value. Only `step` makes another one. */
export interface Machine {
  readonly state: StateName;
  /** Of the connection or renewal that was begun last. Events of earlier ones are dropped. */
  readonly number: number;
  readonly form: Form;
  /** Failures in a row. */
  readonly attempt: number;
  /** What the server asked for last by `retry:`, in milliseconds. */
  readonly retryMs: number;
  /** Streams in a row that had no byte. */
  readonly quiet: number;
  /** Credentials were renewed since a connection lasted. */
  readonly renewed: boolean;
  /** The connection has lasted. */
  readonly steady: boolean;
  /** The server named a time before which it is not asked. */
  readonly patient: boolean;
  /** A connection was live once. */
  readonly wasLive: boolean;
  /** Why the server refused for good, while it does. */
  readonly refusal: Refusal | undefined;
  /** A session is watched. */
  readonly wanted: boolean;
  readonly online: boolean;
  /** The page is not frozen. */
  readonly awake: boolean;
}

/** A refusal for good: of a stream that ended, or of a request. */
export type Refusal = { readonly reason: EndReason } | { readonly status: number };

/** What happens to a connection. Those with a number come from the connection or renewal of that number. */
export type ConnectionEvent =
  /** `watch`: the set of watched sessions is another one, and not empty. */
  | { readonly type: "watch" | "unwatch" | "online" | "offline" | "freeze" | "thaw" }
  /** `shown`: the page is looked at again. `reconnect`: a person asks for it. `answered`: another request was. */
  | { readonly type: "shown" | "reconnect" | "answered" | "close" }
  /** `gap`: what came does not fit the reader's state. `failed`: no answer, or a cut. */
  | { readonly type: "opened" | "bytes" | "gap" | "failed" | "renewed"; readonly number: number }
  | { readonly type: "retry"; readonly number: number; readonly ms: number }
  /** Without a reason: the body ended. */
  | {
      readonly type: "ended";
      readonly number: number;
      readonly reason?: EndReason | undefined;
    }
  | {
      readonly type: "refused";
      readonly number: number;
      readonly status: number;
      readonly retryAfterMs?: number | undefined;
    }
  | { readonly type: TimerName };

/** What is to be done, in this order. */
export type Command =
  | { readonly type: "connect"; readonly number: number; readonly form: Form }
  | { readonly type: "renew"; readonly number: number }
  | { readonly type: "disconnect" }
  | { readonly type: "set_timer"; readonly timer: TimerName; readonly ms: number }
  | { readonly type: "clear_timer"; readonly timer: TimerName };

/** A machine after an event, and what its owner does. */
export interface Step {
  readonly machine: Machine;
  readonly commands: readonly Command[];
}

/** The machine of a client that watches nothing yet. */
export const initialMachine: Machine = {
  state: "idle",
  number: 0,
  form: "stream",
  attempt: 0,
  retryMs: pauseRange.leastMs,
  quiet: 0,
  renewed: false,
  steady: false,
  patient: false,
  wasLive: false,
  refusal: undefined,
  wanted: false,
  online: true,
  awake: true,
};

/** What each event reveals about the network and the page, in every state. */
const flags: Readonly<Partial<Record<ConnectionEvent["type"], Partial<Machine>>>> = {
  watch: { wanted: true },
  unwatch: { wanted: false },
  online: { online: true },
  offline: { online: false },
  freeze: { awake: false },
  thaw: { awake: true },
};

/**
 * One event. `random` in [0, 1) draws the pause, so that clients that broke at once do not come back at
 * once. Pure; never throws. Events of a connection that is over change nothing.
 */
export function step(before: Machine, event: ConnectionEvent, random: number): Step {
  if (before.state === "closed" || ("number" in event && event.number !== before.number))
    return { machine: before, commands: [] };
  const known: Machine = { ...before, ...flags[event.type], ...fieldsFrom(event) };
  const name = nameOf(event);
  const rules = name === undefined ? undefined : transitions[before.state][name];
  const rule = rules?.find(({ unless }) => unless === undefined || !known[unless]);
  if (rule === undefined) return { machine: known, commands: [] };
  const changed = (rule.do ?? []).reduce<Machine>(
    (machine, effect) => ({ ...machine, ...effects[effect](machine, event) }),
    known,
  );
  return enter(before, changed, rule, event, random);
}

/**
 * What the shell shows of a connection. A planned reconnect of a live one is not shown, and neither is that
 * there is none because every watched session is missing: a new one begins so.
 */
export function connectionOf(machine: Machine): "connecting" | "live" | "reconnecting" | "offline" {
  const { state, attempt, wasLive } = machine;
  if (state === "live") return "live";
  if (state === "offline" || state === "refused" || state === "closed") return "offline";
  if (state === "idle") return wasLive ? "live" : "connecting";
  if (attempt > 0) return "reconnecting";
  if (!wasLive) return "connecting";
  return state === "frozen" ? "reconnecting" : "live";
}

/** The range that a pause is drawn from: the server's own after a planned end, doubled by each failure. */
export function pauseRangeMs({ attempt, retryMs }: Pick<Machine, "attempt" | "retryMs">): number {
  if (attempt === 0) return retryMs;
  const least = Math.max(retryMs, pauseRange.leastMs);
  return Math.max(retryMs, Math.min(pauseRange.mostMs, least * 2 ** Math.min(attempt - 1, 16)));
}

function fieldsFrom(event: ConnectionEvent): Partial<Machine> {
  if (event.type !== "retry" || !Number.isFinite(event.ms)) return {};
  return { retryMs: Math.min(retryMostMs, Math.max(0, event.ms)) };
}

function nameOf(event: ConnectionEvent): EventName | undefined {
  switch (event.type) {
    case "retry":
      return undefined;
    case "failed":
    case "gap":
      return "lost";
    case "ended":
      return (event.reason && endings[event.reason]) ?? "lost";
    case "refused":
      return endOfStatus(event.status);
    default:
      return event.type;
  }
}

type Effect = (machine: Machine, event: ConnectionEvent) => Partial<Machine>;

const effects: Readonly<Record<EffectName, Effect>> = {
  forgive: () => ({ attempt: 0, renewed: false }),
  count: ({ attempt, steady }, event) => {
    const isPlanned = event.type === "ended" && event.reason !== undefined && steady;
    return { attempt: isPlanned ? 0 : attempt + 1 };
  },
  mute: ({ form, quiet }) => {
    if (form === "json") return { form: "stream", quiet: 0 };
    return { quiet: quiet + 1, form: quiet > 0 ? "json" : form };
  },
  received: ({ form, quiet }) => ({ quiet: form === "json" ? quiet : 0 }),
  // One more stream without a byte is enough to change back.
  stream: ({ form }) => (form === "json" ? { form: "stream", quiet: 1 } : {}),
  steady: () => ({ steady: true }),
  renewing: () => ({ renewed: true }),
};

/** Where a connection should be, as far as the world lets it. */
function nextOf({ awake, online, wanted }: Machine): StateName {
  if (!awake) return "frozen";
  if (!online) return "offline";
  return wanted ? "opening" : "idle";
}

function enter(
  before: Machine,
  changed: Machine,
  { to, silenceMs: ms }: Rule,
  event: ConnectionEvent,
  random: number,
): Step {
  const target = to === "next" ? nextOf(changed) : to;
  const stays = target === "same" || (target === before.state && target !== "opening");
  if (stays) {
    const armed: readonly Command[] =
      ms === undefined ? [] : [{ type: "set_timer", timer: "silence_timeout", ms }];
    return { machine: changed, commands: [...armed, ...formTimers(before, changed)] };
  }
  const from = states[before.state];
  const rule = states[target];
  const begins = target === "opening" || target === "renewing";
  const retryAfterMs = target === "waiting" ? askedPause(event) : undefined;
  const machine: Machine = {
    ...changed,
    state: target,
    number: begins ? before.number + 1 : before.number,
    form: target === "closed" ? "stream" : changed.form,
    steady: target === "live" || begins ? false : changed.steady,
    patient: retryAfterMs !== undefined,
    wasLive: changed.wasLive || target === "live",
    refusal: target === "refused" ? refusalOf(event) : undefined,
  };
  const pauseMs = Math.max(random * pauseRangeMs(machine), retryAfterMs ?? 0);
  const keeps = rule.holds === "connection" && target !== "opening";
  const commands: Command[] = [
    ...from.timers.map((timer): Command => ({ type: "clear_timer", timer })),
    ...(from.holds === "nothing" || keeps ? [] : [{ type: "disconnect" } as const]),
    ...formTimers(before, machine),
    ...rule.timers.map((timer): Command => ({
      type: "set_timer",
      timer,
      ms: timer === "retry_timeout" ? pauseMs : durations[timer],
    })),
  ];
  const { number, form } = machine;
  if (target === "opening") commands.push({ type: "connect", number, form });
  if (target === "renewing") commands.push({ type: "renew", number });
  return { machine, commands };
}

/** The JSON form lasts a while, then a stream is tried again. */
function formTimers({ form }: Machine, after: Machine): readonly Command[] {
  const timer = "again_timeout";
  if (form === after.form) return [];
  if (after.form === "stream") return [{ type: "clear_timer", timer }];
  return [{ type: "set_timer", timer, ms: durations[timer] }];
}

/** How long the server asked to be left alone. */
function askedPause(event: ConnectionEvent): number | undefined {
  const asked = event.type === "refused" ? (event.retryAfterMs ?? 0) : 0;
  return asked > 0 ? Math.min(asked, retryAfterMostMs) : undefined;
}

function refusalOf(event: ConnectionEvent): Refusal | undefined {
  if (event.type === "ended" && event.reason !== undefined) return { reason: event.reason };
  return event.type === "refused" ? { status: event.status } : undefined;
}

import type { Cause } from "@millrace/core";
import type { Clock } from "@millrace/core/ports";
import { failure } from "../failure.ts";

/** How long each stage of a request may take. `Infinity` switches a clock off. */
export interface Timeouts {
  /** Until the connection is established. */
  readonly connectMs: number;
  /** From there to the status and headers. */
  readonly firstByteMs: number;
  /** Without any byte, including keep-alives. */
  readonly idleMs: number;
  /** Without progress, whatever bytes arrive, until `stalled` is reported. */
  readonly stallNoticeMs: number;
  /** Without progress until the request is ended. */
  readonly stallMs: number;
  /** In total. */
  readonly requestMs: number;
}

/** Models think in silence for minutes, so only the clocks for the network are short. */
export const defaultTimeouts: Timeouts = {
  connectMs: 10_000,
  firstByteMs: 300_000,
  idleMs: 300_000,
  stallNoticeMs: 20_000,
  stallMs: 600_000,
  requestMs: 3_600_000,
};

/** The clocks of one request. `stall` is the request's own setting: `false` if its caller watches for silence. */
export function timeoutsFor(
  stall: false | undefined,
  given: Partial<Timeouts> | undefined,
): Timeouts {
  if (stall !== false) return { ...defaultTimeouts, ...given };
  const never = Infinity;
  const network = { ...defaultTimeouts, firstByteMs: never, idleMs: never, ...given };
  return { ...network, stallNoticeMs: never, stallMs: never };
}

/** The progress of a request. The reader of the bytes updates it; `watch` only reads it. */
export interface Vitals {
  stage: "connecting" | "waiting" | "reading";
  stageAt: number;
  byteAt: number;
  progressAt: number;
  /** True if bytes of an incomplete event have arrived. */
  inEvent: boolean;
}

export function startVitals(now: number): Vitals {
  return { stage: "connecting", stageAt: now, byteAt: now, progressAt: now, inEvent: false };
}

/**
 * Watches one request until the signal is aborted, and returns what is to end it, if anything. One
 * sleep at a time, however many bytes come: a timer for each chunk would cost more than the chunk.
 */
export async function watch(
  vitals: Vitals,
  timeouts: Timeouts,
  clock: Clock,
  signal: AbortSignal,
  stalled: (silentMs: number) => void,
): Promise<Cause | undefined> {
  const begunAt = clock.now();
  // No deadline is nearer than this when its stage begins, so no sleep passes one.
  const { requestMs: _, ...stages } = timeouts;
  const step = Math.max(1, Math.min(maxSleep, ...Object.values(stages)));
  let noticedAt = Number.NaN;
  for (;;) {
    const now = clock.now();
    const cause = exceeded(vitals, timeouts, now, begunAt);
    if (cause !== undefined) return cause;
    const silent = now - vitals.progressAt;
    if (vitals.stage === "reading" && silent >= timeouts.stallNoticeMs) {
      if (noticedAt !== vitals.progressAt) stalled(silent);
      noticedAt = vitals.progressAt;
    }
    const next = Math.min(...deadlines(vitals, timeouts, begunAt).filter((at) => at > now));
    await clock.sleep(Math.min(next - now, step), signal);
    if (signal.aborted) return undefined;
  }
}

/** Timers take 31 bits. */
const maxSleep = 2 ** 31 - 1;

function deadlines(vitals: Vitals, timeouts: Timeouts, begunAt: number): readonly number[] {
  const { stage, stageAt, byteAt, progressAt } = vitals;
  const whole = begunAt + timeouts.requestMs;
  if (stage === "connecting") return [whole, stageAt + timeouts.connectMs];
  if (stage === "waiting") return [whole, stageAt + timeouts.firstByteMs];
  const { idleMs: idle, stallMs: stall, stallNoticeMs: stallNotice } = timeouts;
  return [whole, byteAt + idle, progressAt + stall, progressAt + stallNotice];
}

function exceeded(
  vitals: Vitals,
  timeouts: Timeouts,
  now: number,
  begunAt: number,
): Cause | undefined {
  const { stage, stageAt, byteAt, progressAt, inEvent } = vitals;
  if (now - begunAt >= timeouts.requestMs) {
    return failure("request_timeout", `the request took longer than ${timeouts.requestMs} ms`);
  }
  if (stage === "connecting" && now - stageAt >= timeouts.connectMs) {
    return failure("connect_timeout", `no connection within ${timeouts.connectMs} ms`);
  }
  if (stage === "waiting" && now - stageAt >= timeouts.firstByteMs) {
    return failure("first_byte_timeout", `no answer within ${timeouts.firstByteMs} ms`);
  }
  if (stage !== "reading") return undefined;
  if (now - byteAt >= timeouts.idleMs) {
    return failure("idle_timeout", `no byte for ${timeouts.idleMs} ms`);
  }
  if (now - progressAt < timeouts.stallMs) return undefined;
  return inEvent
    ? failure("event_timeout", `one event took longer than ${timeouts.stallMs} ms`)
    : failure("stalled", `the vendor is alive, and nothing came for ${timeouts.stallMs} ms`);
}

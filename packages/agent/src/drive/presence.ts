import type { SessionUid } from "@millrace/core";
import type { Clock, EventLog } from "@millrace/core/ports";

export interface PresenceOptions {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly uid: SessionUid;
  readonly signal: AbortSignal;
}

/** A driver that has not answered by then counts as silent: its process is gone, stopped, or cut off. */
const answerMs = 1_000;

/**
 * Whether another process drives the session: publishes a `seek_driver` nudge and waits up to 1 s for
 * `driving`. Where the log counts subscribers, a dead process is known at once. `unknown`: no answer
 * came, and the log can't tell whether the nudge had a subscriber, or the log is away.
 */
export async function seekDriver(
  options: PresenceOptions,
  incarnation: number,
): Promise<"alive" | "silent" | "unknown"> {
  const { log, uid } = options;
  try {
    // Sent before subscribing, because a log may count this process's own subscription.
    if ((await log.nudge(uid, { kind: "seek_driver" })) === 0) return "silent";
    return await waitForAnswer(options, incarnation);
  } catch {
    return "unknown"; // the log is away
  }
}

async function waitForAnswer(
  { log, clock, uid, signal }: PresenceOptions,
  incarnation: number,
): Promise<"alive" | "silent" | "unknown"> {
  const done = new AbortController();
  const over = AbortSignal.any([signal, done.signal]);
  try {
    const nudges = await log.nudges(uid, { signal: over });
    const answered = async (): Promise<boolean> => {
      for await (const nudge of nudges)
        if (nudge.kind === "driving" && nudge.incarnation >= incarnation) return true;
      return false;
    };
    const receivers = await log.nudge(uid, { kind: "seek_driver" });
    if (await Promise.race([answered(), clock.sleep(answerMs, over)])) return "alive";
    return receivers === undefined ? "unknown" : "silent";
  } finally {
    done.abort();
  }
}

/** Answers `seek_driver` nudges for as long as `driving` returns the claimed incarnation. Ends with the subscription. */
export async function answerSeekers(
  { log, uid, signal }: Omit<PresenceOptions, "clock">,
  driving: () => number | undefined,
): Promise<void> {
  for await (const nudge of await log.nudges(uid, { signal })) {
    const incarnation = driving();
    if (nudge.kind !== "seek_driver" || incarnation === undefined) continue;
    log.nudge(uid, { kind: "driving", incarnation }).catch(() => undefined); // the other process asks again
  }
}

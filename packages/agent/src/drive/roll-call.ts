import type { SessionUid } from "@millrace/core";
import type { Clock, EventLog } from "@millrace/core/ports";

export interface RollCallOptions {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly uid: SessionUid;
  readonly signal: AbortSignal;
}

/** A driver that has not answered by then is silent: its process is gone, stopped, or can't be heard. */
const answerMs = 1_000;

/**
 * Whether another process drives the session. One that died is known at once where the log counts its
 * listeners. One that was stopped is waited for, and then is not. `unknown`: nobody answers, and the
 * log can't say whether anybody was asked.
 */
export async function seekDriver(
  options: RollCallOptions,
  incarnation: number,
): Promise<"alive" | "silent" | "unknown"> {
  const { log, uid } = options;
  try {
    // Asked before listening: a log may count the asker's own subscription too.
    if ((await log.nudge(uid, { kind: "seek_driver" })) === 0) return "silent";
    return await waitForAnswer(options, incarnation);
  } catch {
    return "unknown"; // the log is away
  }
}

async function waitForAnswer(
  { log, clock, uid, signal }: RollCallOptions,
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
    const told = await log.nudge(uid, { kind: "seek_driver" });
    if (await Promise.race([answered(), clock.sleep(answerMs, over)])) return "alive";
    return told === undefined ? "unknown" : "silent";
  } finally {
    done.abort();
  }
}

/** Answers whoever seeks the driver, while `driving` names the incarnation that is held. */
export async function answerRollCalls(
  { log, uid, signal }: Omit<RollCallOptions, "clock">,
  driving: () => number | undefined,
): Promise<void> {
  for await (const nudge of await log.nudges(uid, { signal })) {
    const incarnation = driving();
    if (nudge.kind !== "seek_driver" || incarnation === undefined) continue;
    log.nudge(uid, { kind: "driving", incarnation }).catch(() => undefined); // asked again
  }
}

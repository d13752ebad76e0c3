import type { SessionUid } from "@millrace/core";
import type { DueSession } from "@millrace/core/ports";
import type { SentHeads } from "./sent-heads.ts";

/**
 * After so many looks at one head, a session is woken whose head was not sent from here: its wake may be on
 * its way. One with a run gets longer: its workflow reads the store at each step, and a step may take a minute.
 * One whose run was left by its driver gets none: a worker has found that its workflow was ended.
 */
const wakeAfter = { released: 1, idle: 2, running: 20 } as const;
/** After so many, Temporal is asked whether the workflow that has the head still runs … */
const checkAfter = { released: 4, idle: 4, running: 20 } as const;
/** … and then after twice as many each time, up to half an hour: the session may wait for a person. */
const rarestCheck = 600;
/** Questions with each look. */
const mostChecks = 40;

/** A session that has work, and its head at each look since. */
interface Stall {
  readonly head: number;
  readonly isSent: boolean;
  readonly looks: number;
  /** The look with which Temporal is asked next. */
  readonly checkAt: number;
}

/** Counts the looks at which a session had work at the same head. */
export class Stalls {
  #stalls = new Map<SessionUid, Stall>();

  /** Takes in one look at the index. Sessions that are not listed are forgotten. */
  look(due: readonly DueSession[], sent: SentHeads): void {
    const stalls = new Map<SessionUid, Stall>();
    for (const session of due) {
      const { uid, head } = session;
      const isSent = sent.has(uid, head);
      const before = this.#stalls.get(uid);
      const goesOn = before?.head === head && before.isSent === isSent;
      const first = { head, isSent, looks: 0, checkAt: checkAfter[stateOf(session)] };
      const stall = goesOn ? before : first;
      stalls.set(uid, { ...stall, looks: stall.looks + 1 });
    }
    this.#stalls = stalls;
  }

  /** The sessions that are to be woken: Temporal has not got their head from here. */
  unsent(due: readonly DueSession[]): readonly DueSession[] {
    return due.filter((session) => {
      const stall = this.#stalls.get(session.uid);
      return stall?.isSent === false && stall.looks >= wakeAfter[stateOf(session)];
    });
  }

  /** The sessions whose workflow may have ended: it has the head, and nothing follows. */
  doubtful(due: readonly DueSession[]): readonly DueSession[] {
    const doubtful = due.filter(({ uid }) => {
      const stall = this.#stalls.get(uid);
      return stall?.isSent === true && stall.looks >= stall.checkAt;
    });
    return doubtful.slice(0, mostChecks);
  }

  /** Temporal has answered about the session. */
  checked(uid: SessionUid): void {
    const stall = this.#stalls.get(uid);
    if (stall === undefined) return;
    const checkAt = stall.looks + Math.min(stall.looks, rarestCheck);
    this.#stalls.set(uid, { ...stall, checkAt });
  }
}

function stateOf({ run, sign }: DueSession): keyof typeof wakeAfter {
  if (run === undefined) return "idle";
  return sign === undefined ? "released" : "running";
}

import type { Fact, SessionState } from "@millrace/core";
import type { Followed } from "@millrace/core/reading";
import { RunFollower } from "../../shared/encode/run-record.ts";
import type { FollowedRun } from "../../shared/encode/run-record.ts";
import { isWaiting } from "../../shared/encode/waiting.ts";

/**
 * A part of a run, of which a client makes one response: from its start, or from where it waited for the client,
 * up to where it waits again or ends.
 */
export interface Leg {
  /** The fact after which it begins: 0 for the first leg, else the last fact of the leg before. */
  readonly from: number;
  /** Its last fact. Left out: it goes on. */
  readonly to?: number | undefined;
  /** The open questions, and the calls that wait for a client, at its end. */
  readonly asked: readonly string[];
}

/** Where a run stands: by its facts alone, so that it does not matter who asks and when. */
export type LegPhase = "coming" | "on" | "waiting" | "over" | "gone";

/** Follows a run through the messages of its session, and says where its legs end. Pure. */
export class LegFollower {
  readonly #run: RunFollower;

  constructor(run: FollowedRun) {
    this.#run = new RunFollower(run);
  }

  get state(): SessionState {
    return this.#run.state;
  }

  get phase(): LegPhase {
    const { phase, state } = this.#run.record;
    if (phase !== "on" && phase !== "waiting") return phase;
    // Which lanes are open differs from reader to reader.
    return isWaiting({ ...state, lanes: [] }) ? "waiting" : "on";
  }

  take(message: Followed["message"]): boolean {
    return this.#run.take(message);
  }
}

/** The legs of a run so far, by the facts from the one on that accepted its prompt. */
export function legsOf(run: FollowedRun, facts: readonly Fact[]): readonly Leg[] {
  const follower = new LegFollower(run);
  const legs: Leg[] = [];
  let from = 0;
  let isHeld = false;
  for (const fact of facts) {
    follower.take(fact);
    const { phase, state } = follower;
    if (phase === "over" || phase === "gone") {
      // That it ended while it waited is the end of the leg which that wait began.
      return [...legs, { from, to: fact.n, asked: [] }];
    }
    if (phase === "waiting" && !isHeld) {
      legs.push({ from, to: fact.n, asked: askedIn(state) });
      from = fact.n;
    }
    isHeld = phase === "waiting";
  }
  return isHeld ? legs : [...legs, { from, asked: [] }];
}

/** What a run waits for: the ids of open questions, and of calls that a client carries out. */
export function askedIn({ approvals, executions }: SessionState): readonly string[] {
  return [
    ...approvals.flatMap(({ asked, answer }) => (answer === undefined ? [asked.approvalId] : [])),
    ...executions.map(({ callId }) => callId),
  ];
}

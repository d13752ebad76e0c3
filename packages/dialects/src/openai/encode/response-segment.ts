import type { Fact, SessionState } from "@millrace/core";
import type { Followed } from "@millrace/core/reading";
import { RunFollower } from "../../shared/encode/run-record.ts";
import type { FollowedRun } from "../../shared/encode/run-record.ts";
import { isWaiting } from "../../shared/encode/waiting.ts";

/**
 * A part of a run, of which a client makes one response: from its start, or from where it waited for the client,
 * up to where it waits again or ends.
 */
export interface ResponseSegment {
  /** The fact after which it begins: 0 for the first segment, else the last fact of the segment before. */
  readonly from: number;
  /** Its last fact. Left out: it goes on. */
  readonly to?: number | undefined;
  /** The open questions, and the calls that wait for a client, at its end. */
  readonly asked: readonly string[];
}

/** Where a run stands: by its facts alone, so that it does not matter who asks and when. */
export type SegmentPhase = "coming" | "on" | "waiting" | "over" | "gone";

/** Follows a run through the messages of its session, and finds where its segments end. Pure. */
export class SegmentFollower {
  readonly #run: RunFollower;

  constructor(run: FollowedRun) {
    this.#run = new RunFollower(run);
  }

  get state(): SessionState {
    return this.#run.state;
  }

  get phase(): SegmentPhase {
    const { phase, state } = this.#run.record;
    if (phase !== "on" && phase !== "waiting") return phase;
    // Which lanes are open differs from reader to reader.
    return isWaiting({ ...state, lanes: [] }) ? "waiting" : "on";
  }

  take(message: Followed["message"]): boolean {
    return this.#run.take(message);
  }
}

/** The segments of a run so far, by the facts from the one on that accepted its prompt. */
export function segmentsOf(run: FollowedRun, facts: readonly Fact[]): readonly ResponseSegment[] {
  const follower = new SegmentFollower(run);
  const segments: ResponseSegment[] = [];
  let from = 0;
  let isWait = false;
  for (const fact of facts) {
    follower.take(fact);
    const { phase, state } = follower;
    if (phase === "over" || phase === "gone") {
      // That it ended while it waited is the end of the segment which that wait began.
      return [...segments, { from, to: fact.n, asked: [] }];
    }
    if (phase === "waiting" && !isWait) {
      segments.push({ from, to: fact.n, asked: askedIn(state) });
      from = fact.n;
    }
    isWait = phase === "waiting";
  }
  return isWait ? segments : [...segments, { from, asked: [] }];
}

/** What a run waits for: the ids of open questions, and of calls that a client carries out. */
export function askedIn({ approvals, executions }: SessionState): readonly string[] {
  return [
    ...approvals.flatMap(({ asked, answer }) => (answer === undefined ? [asked.approvalId] : [])),
    ...executions.map(({ callId }) => callId),
  ];
}

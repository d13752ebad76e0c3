import type { Fact, SessionState, Usage } from "@millrace/core";
import { addUsage, noUsage } from "@millrace/core/writing";
import type { FactOf } from "@millrace/core/writing";
import { segmentEnd, segmentWaits } from "./segment-end.ts";
import type { SegmentEnd } from "./response-json.ts";
import type { FollowedSegment } from "./run-event-builder.ts";

/** When a segment began and ended, what it used, and how it ended: by its facts. */
export class SegmentClock {
  readonly #segment: FollowedSegment;
  #created: number | undefined;
  #last: number | undefined;
  #usage: Usage = noUsage;
  #ended: FactOf<"run_finished"> | undefined;

  constructor(segment: FollowedSegment) {
    this.#segment = segment;
  }

  /** In seconds. */
  get created(): number {
    return this.#created ?? 0;
  }

  /** The time of the last fact, in seconds. */
  get last(): number | undefined {
    return this.#last;
  }

  get usage(): Usage {
    return this.#usage;
  }

  /** Notes the next fact of the session. */
  note(fact: Fact): void {
    const { from, runId } = this.#segment;
    if (fact.n <= from) return;
    this.#last = Math.floor(fact.time / 1_000);
    this.#created ??= this.#last;
    if (!("runId" in fact) || fact.runId !== runId) return;
    if (fact.type === "usage_reported") this.#usage = addUsage(this.#usage, fact.usage);
    if (fact.type === "run_finished") this.#ended = fact;
  }

  /** How the segment ended, by the state after its last fact. */
  end(state: SessionState): SegmentEnd {
    const isWait = this.#ended === undefined && state.run !== undefined;
    return isWait ? segmentWaits : segmentEnd(state, this.#ended);
  }
}

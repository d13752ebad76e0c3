import type { Fact } from "@millrace/core";
import type { Followed } from "@millrace/core/reading";
import type { DialectStream, DialectEncoder } from "../../shared/encode/dialect-encoding.ts";
import { interruption } from "../../shared/encode/interruption.ts";
import { segmentBroken, segmentOn, segmentQueued } from "./segment-end.ts";
import { ResponseHead } from "./response-json.ts";
import type { ResponseJson } from "./response-json.ts";
import { eventText, ResponseWriter } from "./response-writer.ts";
import type { ResponseEvent } from "./response-writer.ts";
import { asStored, RunEventBuilder } from "./run-event-builder.ts";
import type { FollowedSegment } from "./run-event-builder.ts";

/** One response for one reader. */
export interface ResponseOptions {
  readonly segment: FollowedSegment;
  /** What is stored of the run, from the fact on that accepted its prompt. */
  readonly facts: readonly Fact[];
  /** The number of the last event that the reader has. Left out, or 0: none. */
  readonly after?: number | undefined;
}

/** A response as one reader gets it: first what is stored, then what is being written. */
export class ResponseEncoder implements DialectEncoder {
  readonly #builder: RunEventBuilder;
  readonly #head: ResponseHead;
  readonly #writer: ResponseWriter;
  readonly #segment: FollowedSegment;
  #isBegun = false;
  #isBroken = false;

  constructor({ segment, facts, after = 0 }: ResponseOptions) {
    this.#segment = segment;
    this.#builder = new RunEventBuilder(segment, facts);
    this.#head = new ResponseHead(segment);
    this.#writer = new ResponseWriter(after);
    for (const fact of asStored(facts)) this.#take(fact);
    this.#refuseStale();
  }

  isOver = (): boolean => this.#isBroken || this.#builder.isOver;

  /** The events since the last call, with those that a message adds. */
  events(message?: Followed["message"]): readonly ResponseEvent[] {
    if (message !== undefined) this.#take(message);
    this.#refuseStale();
    return this.#writer.taken();
  }

  encode(message: Followed["message"]): string {
    return this.events(message).map(eventText).join("");
  }

  /** The response as far as it is stored. */
  json(): ResponseJson {
    const isCut = this.#isBroken && this.isOver();
    const end = isCut
      ? segmentBroken
      : this.isOver()
        ? this.#head.end(this.#builder.state)
        : this.#current();
    return this.#head.json(end, this.#writer.output);
  }

  /** The last text of its stream, by why the stream ended. */
  endText(reason: string): string {
    if (reason === "finished") return "";
    this.#writer.writeError(reason, interruption(reason, "Go on with starting_after.", "session"));
    return this.events().map(eventText).join("");
  }

  #take(message: Followed["message"]): void {
    if (this.isOver()) return;
    const { head } = this.#builder.state;
    const events = this.#builder.take(message);
    if ("n" in message && message.n > head) this.#head.note(message);
    if (!this.#isBegun && this.#builder.state.head > this.#segment.from) {
      this.#isBegun = true;
      this.#writer.writeResponse("response.created", this.#head.json(this.#first(), []));
      if (this.#segment.from > 0) this.#start();
    }
    for (const each of events) {
      if (each.type === "started") this.#start();
      else if (each.type === "broken") return this.#break(each.why);
      else this.#writer.write(each);
    }
    if (this.isOver()) {
      const response = this.json();
      this.#writer.writeResponse(`response.${lastEvents[response.status]}`, response);
    }
  }

  /**
   * Ends the stream of a reader that was sent what is no longer there. A reader whose position is not reached
   * may have read from a process that is ahead of this one. But if it has not read the attempt that writes now,
   * or while a tool runs and no attempt writes, nothing can follow that continues what it has.
   */
  #refuseStale(): void {
    if (this.#isBroken || this.#writer.base === "reached") return;
    const { writing, isCalling } = this.#builder;
    const isLeft = writing === undefined ? isCalling : !this.#writer.isAfter(writing);
    if (this.#writer.base === "stale" || isLeft || this.isOver()) this.#break("again");
  }

  #start(): void {
    this.#writer.writeResponse("response.in_progress", this.#head.json(segmentOn, []));
  }

  /** The same at each reading: a first segment is accepted before it begins. */
  #first(): typeof segmentOn {
    return this.#segment.from === 0 ? segmentQueued : segmentOn;
  }

  #current(): typeof segmentOn {
    return this.#segment.from > 0 || this.#builder.isBegun ? segmentOn : segmentQueued;
  }

  #break(why: "again" | "behind"): void {
    this.#isBroken = true;
    if (why === "again") this.#writer.writeError("begun_again", begunAgain);
    else
      this.#writer.writeError("behind", interruption(why, "Go on with starting_after.", "session"));
  }
}

const lastEvents: Readonly<Record<ResponseJson["status"], string>> = {
  queued: "queued",
  in_progress: "in_progress",
  completed: "completed",
  failed: "failed",
  incomplete: "incomplete",
  // The format has no event for it: the status in the response says it.
  cancelled: "incomplete",
};

const begunAgain = "This reply was begun again. Read the response anew, from its start.";
/** The stream of a response that goes on. What is stored of it is sent with the first message. */
export function responseStream(options: ResponseOptions): DialectStream {
  const { segment, after = 0 } = options;
  let encoder: ResponseEncoder | undefined;
  return {
    name: `openai responses ${segment.runId} ${segment.from} ${after}`,
    open: () => (encoder = new ResponseEncoder(options)),
    end: (reason) => encoder?.endText(reason) ?? "",
  };
}

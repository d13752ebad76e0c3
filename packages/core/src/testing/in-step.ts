import { joinBytes, textOf } from "../delta/draft.ts";
import { apply } from "../event/apply.ts";
import type { Batch } from "../event/batch.ts";
import { cursorOf } from "../event/cursor.ts";
import type { Fact } from "../event/event.ts";
import type { SessionState } from "../event/state.ts";
import { encodeCursor } from "../wire/cursor-codec.ts";
import { encodeStep } from "../wire/step-encoder.ts";

/** An event of a stream, as its readers are sent it. */
export interface SentLine {
  readonly data: string;
  readonly id: string;
}

/** A stream of steps, and the state of a reader of whole messages before each and after the last. */
export interface StepStream {
  /** What each line stands for. */
  readonly messages: readonly (Fact | Batch)[];
  readonly lines: readonly SentLine[];
  readonly states: readonly SessionState[];
}

/** The steps of all messages that a reader at `start` takes. Throws if one of them can't be a step. */
export function stepsOf(start: SessionState, messages: readonly (Fact | Batch)[]): StepStream {
  const taken: (Fact | Batch)[] = [];
  const lines: SentLine[] = [];
  const states = [start];
  let state = start;
  for (const message of messages) {
    const applied = apply(state, message);
    if (applied.verdict !== "applied") continue;
    const data = encodeStep(state, message);
    if (data === undefined) throw new Error(`no step: ${JSON.stringify(message)}`);
    ({ state } = applied);
    lines.push({ data, id: encodeCursor(cursorOf(state)) });
    states.push(state);
    taken.push(message);
  }
  return { messages: taken, lines, states };
}

/** The same stream with some of its events sent as one: those of which the one at `at` goes with the next. */
export function inEvents(
  { messages, lines, states }: StepStream,
  isWithNext: (at: number) => boolean,
): StepStream {
  const joined: SentLine[] = [];
  const after = states.slice(0, 1);
  let data = "";
  for (const [at, line] of lines.entries()) {
    data += line.data;
    if (at < lines.length - 1 && isWithNext(at)) {
      data += "\n";
      continue;
    }
    joined.push({ data, id: line.id });
    after.push(states[at + 1] as SessionState);
    data = "";
  }
  return { messages, lines: joined, states: after };
}

/**
 * All of a state as values, so that two can be compared: open text and bytes in one piece. Without the
 * time of a lane, which a step of text does not carry.
 */
export function shownState(state: SessionState): object {
  const { items, lanes, ...rest } = state;
  return {
    ...rest,
    items: items.toArray(),
    lanes: lanes.map(({ draft, ...lane }) => ({
      ...lane,
      time: 0,
      fault: draft.fault,
      parts: draft.parts.map((part) =>
        part.state === "committed"
          ? part
          : {
              begin: part.begin,
              text: textOf(part),
              bytes: [...joinBytes(part.bytes)],
              value: part.value,
              metadata: part.metadata,
            },
      ),
    })),
  };
}

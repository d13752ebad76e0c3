import type { AgUiEvent, AgUiMessage, MessagesSnapshot } from "./events.ts";

/** What a reader is to hold, and how much is known of what it holds. */
export interface Restated extends Omit<MessagesSnapshot, "type"> {
  /** Whether the reader may hold reasoning or activities that are to go, or messages in another order. */
  readonly isAnew: boolean;
  readonly isVersion1: boolean;
}

const activity = { id: "millrace.cleared.1", activityType: "millrace.cleared", content: {} };
const reasoning: AgUiMessage = { id: "millrace.cleared.2", role: "reasoning", content: "" };

/**
 * What makes a reader hold these messages and no others, in this order. A snapshot alone changes messages in
 * place, adds at the end, and lets reasoning and activities stay if it has none itself. So a reader that may hold
 * some is first sent one of each instead of all, then these two as plain messages, which go with the next snapshot.
 */
export function* snapshotOf(restated: Restated): Generator<AgUiEvent, void, undefined> {
  const { before, messages, after, isAnew, isVersion1 } = restated;
  const only = (some: readonly AgUiMessage[]): AgUiEvent => snapshot("", some, "");
  if (isAnew && !isVersion1) {
    yield* clearedBefore1();
    yield snapshot(before, [...messages, markedReasoning], after);
    return;
  }
  if (isAnew) {
    yield only([{ ...activity, role: "activity" }, reasoning]);
    yield only([activity, reasoning].map(({ id }) => ({ id, role: "assistant", content: "" })));
  }
  yield snapshot(before, messages, after);
}

/** Has the id of an activity that the reader holds. */
const markedReasoning: AgUiMessage = { id: activity.id, role: "reasoning", content: "" };

/**
 * Readers before 1.0 change no message that they let stay. So reasoning that a snapshot has as an activity makes
 * activities go and stays what it is, and the other way round. Of the two the activity is left: nothing shows it.
 */
function* clearedBefore1(): Generator<AgUiEvent, void, undefined> {
  const { id: messageId } = reasoning;
  yield { type: "REASONING_START", messageId };
  yield { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" };
  yield { type: "REASONING_MESSAGE_END", messageId };
  yield { type: "REASONING_END", messageId };
  const { activityType, content } = activity;
  yield snapshot("", [{ ...activity, id: messageId, role: "activity" }], "");
  yield { type: "ACTIVITY_SNAPSHOT", messageId: activity.id, activityType, content };
  yield snapshot("", [markedReasoning], "");
}

function snapshot(before: string, messages: readonly AgUiMessage[], after: string): AgUiEvent {
  return { type: "MESSAGES_SNAPSHOT", before, messages, after };
}

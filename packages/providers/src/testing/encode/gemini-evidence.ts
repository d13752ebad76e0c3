import type { ChatProof } from "./chat-evidence.ts";

/** What one event of a reply shows of its end, by a reader that shares no code with ours. */
interface Mark {
  readonly reason: string;
  readonly isBlocked: boolean;
  /** It has content for certain, and it may have some. */
  readonly hasContent: boolean;
  readonly mayHaveContent: boolean;
  readonly isDone: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * The proof after each number of events, from none to all. A finish reason proves a reply, if no
 * content is behind it. A reason that stands on every event with content does so only once it stands
 * alone. With `[DONE]` any reason does, and behind `[DONE]` nothing changes.
 */
export function geminiProofs(events: readonly (Fields | undefined)[]): readonly ChatProof[] {
  const marks = events.map(markOf);
  return Array.from({ length: events.length + 1 }, (_, count) => proofOf(marks.slice(0, count)));
}

function proofOf(marks: readonly Mark[]): ChatProof {
  const over = marks.findIndex(({ isDone }) => isDone);
  const came = over < 0 ? marks : marks.slice(0, over);
  if (came.some(({ isBlocked }) => isBlocked)) return { may: true, must: true };
  const at = came.findLastIndex(({ reason }) => reason !== "");
  const last = came[at];
  if (last === undefined) return { may: false, must: false };
  if (over >= 0) return { may: true, must: true };
  const behind = came.slice(at + 1);
  const certain = came.filter(({ hasContent }) => hasContent);
  const possible = came.filter(({ mayHaveContent }) => mayHaveContent);
  const isStamp = (all: readonly Mark[], some: readonly Mark[]): boolean =>
    some.length > 1 && all.every(({ reason }) => reason === last.reason);
  return {
    may:
      !behind.some((mark) => mark.hasContent) && !(last.hasContent && isStamp(possible, certain)),
    must:
      !behind.some((mark) => mark.mayHaveContent) &&
      !(last.mayHaveContent && isStamp(certain, possible)),
  };
}

function markOf(event: Fields | undefined): Mark {
  const candidates = listOf(event?.["candidates"]).map(fieldsOf);
  const candidate = candidates.find(({ index }) => (index ?? 0) === 0) ?? {};
  const parts = listOf(fieldsOf(candidate["content"])["parts"]).map(fieldsOf);
  const { finishReason: reason } = candidate;
  return {
    reason: typeof reason === "string" ? reason : "",
    isBlocked: isWord(fieldsOf(event?.["promptFeedback"])["blockReason"]),
    hasContent: parts.some(
      (part) => isWord(part["text"]) || isWord(fieldsOf(part["functionCall"])["name"]),
    ),
    mayHaveContent: parts.some((part) => Object.values(part).some((value) => value !== "")),
    isDone: event === undefined,
  };
}

function isWord(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

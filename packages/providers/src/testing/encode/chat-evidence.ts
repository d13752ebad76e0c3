/** What one chunk of a chat reply shows of its end, by a reader that shares no code with ours. */
interface ChatMark {
  readonly reason: string;
  /** It has content for certain, and it may have some. */
  readonly hasContent: boolean;
  readonly mayHaveContent: boolean;
  readonly isDone: boolean;
}

/** Whether a reply is complete after some chunks: it may be, and it must be. */
export interface ChatProof {
  readonly may: boolean;
  readonly must: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * The proof after each number of chunks, from none to all. A finish reason alone proves a reply, if
 * content came before it and none beside or behind it; with `[DONE]` any does. Behind `[DONE]` nothing
 * changes.
 */
export function chatProofs(chunks: readonly (Fields | undefined)[]): readonly ChatProof[] {
  const marks = chunks.map(isCounted(chunks) ? countedMark : markOf);
  return Array.from({ length: chunks.length + 1 }, (_, count) => proofOf(marks.slice(0, count)));
}

function proofOf(marks: readonly ChatMark[]): ChatProof {
  const over = marks.findIndex(({ isDone }) => isDone);
  const came = over < 0 ? marks : marks.slice(0, over);
  const reasons = came.filter(({ reason }) => reason !== "");
  if (reasons.length === 0) return { may: false, must: false };
  if (over >= 0) return { may: true, must: true };
  const at = came.findIndex(({ reason }) => reason !== "");
  const last = came.findLastIndex(({ reason }) => reason !== "");
  const before = came.slice(0, last);
  // Content behind the first reason shows that the reasons of this stream do not end it.
  const behind = came.slice(at + 1);
  const isEnd = came[last]?.reason === "stop";
  const certain = (mark: ChatMark | undefined): boolean => mark?.hasContent === true;
  const possible = (mark: ChatMark | undefined): boolean => mark?.mayHaveContent === true;
  return {
    may: !certain(came[last]) && !behind.some(certain) && (!isEnd || before.some(possible)),
    must: !possible(came[last]) && !behind.some(possible) && before.some(certain),
  };
}

/** True if the choice of each chunk has the number of its chunk as its index, from 1 on. */
function isCounted(chunks: readonly (Fields | undefined)[]): boolean {
  const choices = chunks.flatMap((chunk) => (chunk === undefined ? [] : [choicesOf(chunk)]));
  const filled = choices.filter(({ length }) => length > 0);
  return (
    filled.length > 0 && filled.every((all, at) => all.length === 1 && all[0]?.["index"] === at + 1)
  );
}

/** Such a reason counts with `[DONE]` alone. */
function countedMark(chunk: Fields | undefined): ChatMark {
  const [choice] = chunk === undefined ? [] : choicesOf(chunk);
  if (choice === undefined) return markOf(chunk);
  return markOf({ choices: [{ ...choice, index: 0, delta: { content: "x" } }] });
}

function markOf(chunk: Fields | undefined): ChatMark {
  if (chunk === undefined) {
    return { reason: "", hasContent: false, mayHaveContent: false, isDone: true };
  }
  const choice = choicesOf(chunk).find(({ index = 0 }) => index === 0) ?? {};
  const { delta, message, finish_reason: reason } = choice;
  const fields = fieldsOf(delta);
  const isMessage = typeof delta !== "object" && typeof message === "object" && message !== null;
  return {
    reason: typeof reason === "string" && reason !== "null" ? reason : "",
    hasContent: textFields.some((name) => isText(fields[name])) || isCalled(fields["tool_calls"]),
    mayHaveContent: isMessage || Object.entries(fields).some(isPossible),
    isDone: false,
  };
}

const textFields = "content refusal reasoning_content reasoning reasoning_text".split(" ");

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

/** True if an entry has a name or arguments. Others add nothing. */
function isCalled(entries: unknown): boolean {
  if (!Array.isArray(entries)) return false;
  return entries.some((entry) => {
    const { name, arguments: input } = fieldsOf(fieldsOf(entry)["function"]);
    return isText(name) || isText(input);
  });
}

function isPossible([name, value]: readonly [string, unknown]): boolean {
  return name !== "role" && isFilled(value);
}

/** A text, a list or an object with something in it. */
function isFilled(value: unknown): boolean {
  if (typeof value === "string") return value !== "";
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

function choicesOf(chunk: Fields): readonly Fields[] {
  const { choices } = chunk;
  return Array.isArray(choices) ? choices.map(fieldsOf) : [];
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

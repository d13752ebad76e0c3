import { CompletionEncoder } from "../../../packages/dialects/src/openai/encode/completion-encoder.ts";
import { factsAt } from "./segments.ts";
import type { WatchedSegment } from "./segments.ts";
import { asJson, eventAnswer, openaiWith } from "./openai.ts";
import { withoutParsed } from "./responses.ts";
import { sentAt } from "./sessions.ts";
import type { WatchedRun, WatchedSession } from "./sessions.ts";

/** The completion of a segment by what is stored: its stream, and as it is given whole. */
export function storedCompletion({ segment, facts }: WatchedSegment): {
  readonly stream: string;
  readonly json: HeldCompletion;
  readonly isFailed: boolean;
} {
  const encoder = new CompletionEncoder({ segment, facts, usage: true });
  const isFailed = encoder.end?.error !== null;
  return {
    stream: encoder.endText("finished"),
    json: asJson(encoder.json()) as HeldCompletion,
    isFailed,
  };
}

/** A completion as far as it is looked at. */
interface HeldCompletion {
  readonly choices: readonly {
    readonly message: { readonly content?: string | null; readonly reasoning_content?: string };
  }[];
}

/** The stream of a reader who comes at a place of the session and reads to the end. */
export function liveCompletion(
  session: WatchedSession,
  run: WatchedRun,
  watched: WatchedSegment,
  from: number,
): string {
  const facts = factsAt(session, watched, from);
  const encoder = new CompletionEncoder({ segment: watched.segment, facts, usage: true });
  let text = "";
  const head = Math.max(0, (session.states[from]?.head ?? 1) - 1);
  for (const message of sentAt(session, from, head)) text += encoder.encode(message);
  for (let at = from; at <= run.last && !encoder.isOver(); at += 1) {
    const message = session.messages[at];
    if (message !== undefined) text += encoder.encode(message);
  }
  return text + encoder.endText("finished");
}

/**
 * What the library makes of a stream, or the error that it throws. Reasoning is no part of its own format: of each
 * field that it does not know it keeps the last piece, so clients add up the pieces themselves.
 */
export async function heldCompletion(stream: string): Promise<unknown> {
  const client = openaiWith(() => eventAnswer(stream));
  let reasoning = "";
  const reading = client.chat.completions.stream({
    model: "agent",
    messages: [{ role: "user", content: "x" }],
  });
  reading.on("chunk", ({ choices: [choice] }) => {
    const { reasoning_content: piece = "" } = { ...choice?.delta } as ReasoningDelta;
    reasoning += piece;
  });
  try {
    const { choices, ...held } = await reading.finalChatCompletion();
    const said = choices.map(({ message, ...choice }) => ({
      ...choice,
      message: reasoning === "" ? message : { ...message, reasoning_content: reasoning },
    }));
    return withoutParsed(asJson({ ...held, choices: said }));
  } catch (error) {
    return error;
  }
}

interface ReasoningDelta {
  readonly reasoning_content?: string;
}

/** The text of a completion, of the texts that a run wrote. */
export function joined(texts: readonly string[], kind: "text" | "reasoning"): string {
  const own = texts.flatMap((text) =>
    text.startsWith(`${kind} `) ? [text.slice(kind.length + 1)] : [],
  );
  return own.reduce((all, text) => (all === "" ? text : `${all}\n\n${text}`), "");
}

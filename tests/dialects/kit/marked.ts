import type { Fact } from "@millrace/core";
import type { Batch } from "@millrace/core/ports";
import type { Random } from "../../kit/random.ts";
import { record } from "../../positions/record.ts";
import { drawReply } from "../../positions/replies.ts";
import type { PacedReply } from "../../positions/replies.ts";
import { hashAtOnce } from "../../sessions/kit/hash.ts";
import { watchedSession } from "./sessions.ts";
import type { WatchedSession } from "./sessions.ts";

/** The first of the characters that no reply has but those of one attempt. */
const firstMark = 0x4e00;
const markPattern = /[\u4e00-\u51ff]/g;

/** Sessions with many takeovers, in which each attempt at a reply writes a character of its own, and no other. */
export async function recordMarked(seeds: readonly number[]): Promise<readonly WatchedSession[]> {
  const sessions: WatchedSession[] = [];
  const undo = hashAtOnce();
  for (const seed of seeds) {
    const recording = await record({ seed, replies: [], draw: markedReplies(), takeovers: 60 });
    sessions.push(await watchedSession(recording));
  }
  undo();
  return sessions;
}

function markedReplies(): (random: Random, tools: readonly string[]) => PacedReply {
  let attempts = 0;
  return (random, tools) => {
    const { deltas, ending } = drawReply(random, tools);
    const mark = String.fromCharCode(firstMark + attempts);
    attempts += 1;
    const texts = new Set<string>();
    const marked = deltas.map((delta) => {
      if (delta.op === "begin_part" && (delta.kind === "text" || delta.kind === "reasoning"))
        texts.add(delta.partId);
      if (delta.op !== "append_text" || !texts.has(delta.partId)) return delta;
      return { ...delta, chunk: mark.repeat(delta.chunk.length) };
    });
    return { deltas: marked, ending };
  };
}

/** Which reply each attempt of a session was made at, by the characters of attempts. */
export type Attempts = ReadonlyMap<string, string>;

/** All attempts of which a viewer could be sent something. */
export function attemptsOf({ messages }: Pick<WatchedSession, "messages">): Attempts {
  const replies = new Map<string, string>();
  for (const message of messages)
    for (const [itemId, text] of textsOf(message))
      for (const mark of marksIn(text)) replies.set(mark, itemId);
  return replies;
}

/** Whether a text has something of two attempts at one reply. */
export function isSpliced(attempts: Attempts, text: string): boolean {
  const marks = marksIn(text);
  return new Set(marks.map((mark) => attempts.get(mark))).size < marks.length;
}

function marksIn(text: string): readonly string[] {
  return [...new Set(text.match(markPattern))];
}

function textsOf(message: Fact | Batch): readonly (readonly [string, string])[] {
  if ("events" in message)
    return message.events.flatMap((event) =>
      event.type === "content_delta" && event.delta.op === "append_text"
        ? [[message.itemId, event.delta.chunk] as const]
        : [],
    );
  if (message.type !== "item_committed" && message.type !== "item_replaced") return [];
  const { id, author, parts } = message.item;
  if (author !== "model") return [];
  return parts.flatMap((part) => ("text" in part ? [[id, part.text] as const] : []));
}

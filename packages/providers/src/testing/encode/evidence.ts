import { chatProofs } from "./chat-evidence.ts";
import type { ChatProof as Proof } from "./chat-evidence.ts";
import { geminiProofs } from "./gemini-evidence.ts";
import { fields, plainEvents, plainMessages } from "./plain-events.ts";
import type { PlainEvent } from "./plain-events.ts";

/** Whether the first bytes of a stream prove that its reply is complete. */
export interface Evidence {
  /** False if a decoder that reports a complete reply is wrong. */
  readonly may: (length: number) => boolean;
  /**
   * True if a decoder that reports an incomplete reply is wrong, unless the stream then violates its
   * protocol.
   */
  readonly must: (length: number) => boolean;
}

/** The evidence of a stream. Of several choices or candidates the first is the reply. */
export function evidenceOf(dialect: string, bytes: Uint8Array): Evidence {
  const events = dialect.startsWith("bedrock-") ? plainMessages(bytes) : plainEvents(bytes);
  switch (dialect) {
    case "openai-chat":
      return ofProofs(events, chatProofs);
    case "openai-responses":
      return from(first(events, isLast));
    case "gemini":
      return ofProofs(events, geminiProofs);
    case "anthropic-messages":
    case "bedrock-anthropic":
      return from(closedAt(events));
    case "bedrock-converse":
      return from(first(events, ({ name }) => name === "messageStop"));
    default:
      throw new TypeError(`no oracle for ${dialect}`);
  }
}

/** Evidence that lasts once it has come: after `earliest` it may be there, after `latest` it is. */
interface Place {
  /** Excludes the line ends after it. */
  readonly earliest: number;
  readonly latest: number;
}

function from({ earliest, latest }: Place): Evidence {
  return { may: (length) => length >= earliest, must: (length) => length >= latest };
}

/**
 * Evidence that content may take back. An event may be read as soon as its last line of data is
 * there, and must be after the blank line.
 */
function ofProofs(
  events: readonly PlainEvent[],
  proofsOf: (chunks: readonly (PlainEvent["data"] | undefined)[]) => readonly Proof[],
): Evidence {
  const proofs = proofsOf(events.map(({ isDone, data }) => (isDone ? undefined : data)));
  const readAt = (length: number): readonly Proof[] => {
    const closed = events.filter((event) => event.closed <= length).length;
    const ended = events.filter((event) => event.end <= length).length;
    return proofs.slice(closed, ended + 1);
  };
  return {
    may: (length) => readAt(length).some(({ may }) => may),
    must: (length) => readAt(length).every(({ must }) => must),
  };
}

function isLast({ name, data }: PlainEvent): boolean {
  const type = isWord(data["type"]) ? data["type"] : name;
  return type === "response.completed" || type === "response.incomplete";
}

/**
 * A stop reason that no content follows, at a moment without an open block, or the last event. A
 * delta without a block opens one, and text in a block of another type opens one that no event
 * stops.
 */
function closedAt(events: readonly PlainEvent[]): Place {
  const open = new Map<unknown, unknown>();
  let reason: "none" | "early" | "given" = "none";
  let earliest = Infinity;
  let latest = Infinity;
  for (const { data, end, closed } of events) {
    const { type, index } = data;
    if (type === "content_block_start" || type === "content_block_delta") {
      const kind = fields(data["content_block"])["type"] ?? kindOf(fields(data["delta"])["type"]);
      const known = type === "content_block_delta" && open.has(index);
      if (!known) open.set(index, kind);
      else if (isMisplaced(kind, open.get(index))) open.set(kind, kind);
      if (reason === "given") reason = "early";
      latest = Infinity;
    }
    if (type === "content_block_stop") open.delete(index);
    // A proxy may put the whole reply into its first event, including a later stop reason.
    if (isWord(fields(data["message"])["stop_reason"]) && reason === "none") reason = "early";
    if (isWord(fields(data["delta"])["stop_reason"])) reason = "given";
    if (reason === "none") continue;
    const last = type === "message_stop";
    if ((open.size === 0 && reason === "given") || last) {
      earliest = Math.min(earliest, end);
      latest = Math.min(latest, closed);
    }
    if (last) break;
  }
  return { earliest, latest };
}

/** The kind of block that a delta of this type belongs to. */
function kindOf(type: unknown): unknown {
  return type === "text_delta" ? "text" : type === "thinking_delta" ? "thinking" : undefined;
}

/** True for text in a block that has none. Blocks of unknown types may have any. */
function isMisplaced(kind: unknown, block: unknown): boolean {
  const typed = block === "text" || block === "thinking" || block === "tool_use";
  return typed && kind !== undefined && kind !== block;
}

function first(events: readonly PlainEvent[], is: (event: PlainEvent) => boolean): Place {
  const { end, closed } = events.find(is) ?? { end: Infinity, closed: Infinity };
  return { earliest: end, latest: closed };
}

function isWord(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

import { chatProofs } from "./chat-evidence.ts";
import type { ChatProof } from "./chat-evidence.ts";

/**
 * An event of an independent parser, which shares no code with our framing and protocols. Slow,
 * short and lenient.
 */
interface PlainEvent {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Its data is `[DONE]`. */
  readonly isDone: boolean;
  /** The offset where its last line of data ends, without the line end. */
  readonly end: number;
  /** The offset where the blank line after it ends. */
  readonly closed: number;
}

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
  const events = plainEvents(bytes);
  switch (dialect) {
    case "openai-chat":
      return ofChat(events);
    case "openai-responses":
      return from(first(events, isLast));
    case "gemini":
      return from(first(events, isStopped));
    case "anthropic-messages":
      return from(closedAt(events));
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
 * The evidence of a chat reply, which content may take back. An event may be read as soon as its last
 * line of data is there, and must be after the blank line.
 */
function ofChat(events: readonly PlainEvent[]): Evidence {
  const proofs = chatProofs(events.map(({ isDone, data }) => (isDone ? undefined : data)));
  const readAt = (length: number): readonly ChatProof[] => {
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

function isStopped({ data }: PlainEvent): boolean {
  const finished = list(data["candidates"]).some((candidate) => {
    const { index = 0, finishReason: reason } = fields(candidate);
    return index === 0 && isWord(reason);
  });
  return finished || isWord(fields(data["promptFeedback"])["blockReason"]);
}

/** A stop reason followed by a moment without an open block, or the last event. */
function closedAt(events: readonly PlainEvent[]): Place {
  let open = 0;
  let reason: "none" | "early" | "given" = "none";
  let earliest = Infinity;
  for (const { data, end, closed } of events) {
    if (data["type"] === "content_block_start") open += 1;
    if (data["type"] === "content_block_stop") open -= 1;
    // A proxy may put the whole reply into its first event, including a later stop reason.
    if (isWord(fields(data["message"])["stop_reason"]) && reason === "none") reason = "early";
    if (isWord(fields(data["delta"])["stop_reason"])) reason = "given";
    if (reason === "none") continue;
    const last = data["type"] === "message_stop";
    if (open <= 0 || last) earliest = Math.min(earliest, end);
    if ((open <= 0 && reason === "given") || last) return { earliest, latest: closed };
  }
  return { earliest, latest: Infinity };
}

function first(events: readonly PlainEvent[], is: (event: PlainEvent) => boolean): Place {
  const { end, closed } = events.find(is) ?? { end: Infinity, closed: Infinity };
  return { earliest: end, latest: closed };
}

function isWord(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** One character per byte until the lines are found, so that offsets count bytes. */
function plainEvents(bytes: Uint8Array): readonly PlainEvent[] {
  const text = Buffer.from(bytes).toString("latin1");
  const events: PlainEvent[] = [];
  let data: string[] = [];
  let name = "";
  let end = 0;
  const close = (closed: number): void => {
    const row = Buffer.from(data.join("\n"), "latin1").toString("utf8");
    const isDone = row.trim() === "[DONE]";
    const value = isDone ? {} : parsed(row);
    if (value !== undefined) events.push({ name, data: value, isDone, end, closed });
    data = [];
    name = "";
  };
  for (const { 0: line, index } of text.matchAll(/[^\r\n]*(?:\r\n|\r|\n|$)/g)) {
    const row = line.replace(/[\r\n]+$/, "");
    if (row === "") close(line === "" ? Infinity : index + line.length);
    const field = /^(?:\u00EF\u00BB\u00BF)?data: ?(.*)$/s.exec(row);
    if (field === null) {
      name = /^event: ?(.*)$/s.exec(row)?.[1] ?? name;
      continue;
    }
    data.push(field[1] ?? "");
    end = index + row.length;
  }
  close(Infinity);
  return events;
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? fields(value) : undefined;
  } catch {
    return undefined;
  }
}

import type { Json, SessionState, ViewItem, ViewPart, ViewToolCall } from "@millrace/core";
import type { BlobUrl } from "../../shared/encode/file-url.ts";
import type { RunRecord } from "../../shared/encode/run-record.ts";
import { beginSentPart, emptySentCall, isSent, SentItems } from "../../shared/encode/sent-items.ts";
import type { LaneBatch, SentItem, SentPart } from "../../shared/encode/sent-items.ts";
import { endOf, waitingEnd } from "./ends.ts";
import type { AskedRun } from "./ends.ts";
import type { AgUiEvent, AgUiMessage } from "./events.ts";
import {
  activityOf,
  argumentsOf,
  messageIdOf,
  noteMessages,
  resultIdOf,
  runMessages,
} from "./messages.ts";
import { snapshotOf } from "./snapshot.ts";
import { beginEvents, deltaEvent, endEvents } from "./text-events.ts";
import { ToolCallEvents } from "./tool-call-events.ts";

/** For whom a run is encoded, and what stands around it there. */
export interface RunEncoderOptions {
  readonly asked: AskedRun;
  readonly blobUrl: BlobUrl;
  /** The messages before the run and after it, as JSON. Sent where the reader's list has to be mended. */
  readonly before: string;
  readonly after: string;
  /** What the reader holds as results of its own tools, by the names of their calls. */
  readonly results: ReadonlyMap<string, Json>;
}

/**
 * Encodes a run as events of AG-UI for one reader. It holds what the reader was sent, and writes what is lacking: so
 * it does not matter by which messages the run came to where it is. What can't be sent by going on is sent by a
 * snapshot of all messages. Pure.
 */
export class RunEncoder {
  readonly #options: RunEncoderOptions;
  readonly #sent = new SentItems();
  #step: string | undefined;
  readonly #calls: ToolCallEvents;
  #isEnded = false;

  constructor(options: RunEncoderOptions) {
    this.#options = options;
    this.#calls = new ToolCallEvents(options.results);
  }

  /** Whether the reader was sent the end: of the run, or until it answers. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** What was written in a lane since the last call, if that is all that is new. Undefined: `encode` finds out. */
  encodeBatch(state: SessionState, batch: LaneBatch): readonly AgUiEvent[] | undefined {
    if (this.#step === undefined) return undefined;
    return this.#sent
      .grow(state, batch, (callId) => callId)
      ?.flatMap(({ item, at, part, text }) => {
        const id = messageIdOf(item.id, at);
        if (text === undefined) return beginEvents(part, id);
        return text === "" ? [] : [deltaEvent(part, id, text)];
      });
  }

  /** Everything that the reader lacks of the run. */
  encode(record: RunRecord): readonly AgUiEvent[] {
    const out: AgUiEvent[] = [];
    if (isBegun(record) && !this.#encodeItems(record, out)) this.restate(record, out);
    if (record.phase === "coming" || record.phase === "on") return out;
    this.#isEnded = true;
    this.#close(out);
    const isWaiting = record.phase === "waiting";
    out.push(...this.#calls.close(isWaiting));
    const { asked } = this.#options;
    out.push(isWaiting ? waitingEnd(asked, record) : endOf(asked, record));
    return out;
  }

  /** Counts the run as sent so far: the reader holds its messages. What is in no message is sent. */
  adopt(record: RunRecord): readonly AgUiEvent[] {
    const out: AgUiEvent[] = [];
    this.#sent.clear();
    if (isBegun(record)) this.#encodeItems(record, out, true);
    this.#step = undefined;
    return out.filter(({ type }) => type === "CUSTOM" || type === "SUBAGENT_STARTED");
  }

  /** Makes the reader hold the run as it is now, whatever it held. `isAnew`: that is not earlier. */
  restate(record: RunRecord, out: AgUiEvent[], isAnew = false): void {
    const { asked, blobUrl, before, after } = this.#options;
    const messages = isBegun(record) ? runMessages(record, blobUrl) : [];
    const isLost = !isAnew && !this.#canMend(messages);
    this.#close(out);
    const { isVersion1 } = asked;
    out.push(...snapshotOf({ before, messages, after, isAnew: isAnew || isLost, isVersion1 }));
    out.push(...this.adopt(record));
    this.#reopen(out);
  }

  /** False: it can't be sent by going on. `isHeld`: the reader holds it, in whichever way it was sent. */
  #encodeItems(record: RunRecord, out: AgUiEvent[], isHeld = false): boolean {
    return this.#sent.visit(record, {
      encode: (sent, item) => this.#encodeItem(sent, item, record, out) || isHeld,
      retract: () => false,
    });
  }

  #encodeItem(sent: SentItem, item: ViewItem, record: RunRecord, out: AgUiEvent[]): boolean {
    if (item.author === "user")
      return encodeNote(sent, noteMessages(item, record, this.#options.blobUrl), out);
    for (const [at, part] of item.parts.entries())
      if (!this.#encodePart(sent, at, part, out)) break;
    for (const [at, part] of item.parts.entries()) {
      const call = sent.parts[at]?.call;
      if (call === undefined || part.kind !== "tool_call") continue;
      if (!this.#calls.encode(call, part, messageIdOf(sent.id, at), out)) return false;
    }
    return true;
  }

  /** False: it has nothing to show yet, and what follows it waits. */
  #encodePart(sent: SentItem, at: number, part: ViewPart, out: AgUiEvent[]): boolean {
    const earlier = sent.parts[at];
    switch (part.kind) {
      case "text":
      case "reasoning":
        this.#encodeText(sent, at, part, part.text, out);
        return true;
      case "tool_call":
        this.#encodeText(sent, at, part, argumentsOf(part), out);
        return true;
      case "media":
      case "file":
      case "structured":
      case "custom": {
        const activity = activityOf(part, this.#options.blobUrl);
        if (activity === undefined) return earlier !== undefined;
        const { value } = activity.content;
        if (earlier !== undefined && earlier.value === value) return true;
        const data = earlier ?? this.#begin(sent, part, out);
        data.value = value;
        data.isDone = true; // nothing is open of it
        out.push({ type: "ACTIVITY_SNAPSHOT", messageId: messageIdOf(sent.id, at), ...activity });
        return true;
      }
      case "opaque":
        if (earlier === undefined) beginSentPart(sent, part.id, part.kind).isDone = true;
        return true;
      default:
        part satisfies never;
        return true;
    }
  }

  #encodeText(
    sent: SentItem,
    at: number,
    part: Extract<ViewPart, { kind: "text" | "reasoning" }> | ViewToolCall,
    text: string,
    out: AgUiEvent[],
  ): void {
    const earlier = sent.parts[at];
    if (earlier?.isDone === true) return;
    const messageId = messageIdOf(sent.id, at);
    const begun = earlier ?? this.#begin(sent, part, out);
    if (part.kind === "tool_call") begun.call ??= emptySentCall(part.callId, part.tool);
    if (earlier === undefined) out.push(...beginEvents(begun, messageId));
    if (text.length > begun.sent) out.push(deltaEvent(begun, messageId, text.slice(begun.sent)));
    begun.sent = text.length;
    const isOpen = part.kind === "tool_call" ? part.state === "writing" : part.live;
    if (isOpen) return;
    begun.isDone = true;
    out.push(...endEvents(begun, messageId));
  }

  /** The first part of an item begins its step. */
  #begin(sent: SentItem, part: ViewPart, out: AgUiEvent[]): SentPart {
    if (sent.parts.every(({ kind }) => kind === "opaque")) this.#beginStep(out);
    return beginSentPart(sent, part.id, part.kind);
  }

  #beginStep(out: AgUiEvent[]): void {
    this.#endStep(out);
    const steps = this.#sent.all.filter(({ parts }) => parts[0]?.kind !== "note").length;
    this.#step = `step ${steps}`;
    out.push({ type: "STEP_STARTED", stepName: this.#step });
  }

  #endStep(out: AgUiEvent[]): void {
    if (this.#step !== undefined) out.push({ type: "STEP_FINISHED", stepName: this.#step });
    this.#step = undefined;
  }

  /** Ends what is open. A reader refuses the end of a run before. */
  #close(out: AgUiEvent[]): void {
    for (const { id, parts } of this.#sent.all)
      for (const [at, part] of parts.entries()) {
        if (part.isDone) continue;
        part.isDone = true;
        out.push(...endEvents(part, messageIdOf(id, at)));
      }
    this.#endStep(out);
  }

  /** Takes up what is still being written, of which the reader holds the beginning. */
  #reopen(out: AgUiEvent[]): void {
    const sent = this.#sent.live;
    if (sent === undefined || !isSent(sent)) return;
    this.#beginStep(out);
    for (const [at, part] of sent.parts.entries())
      if (!part.isDone) out.push(...beginEvents(part, messageIdOf(sent.id, at)));
  }

  /**
   * Whether one snapshot makes the reader hold these messages of the run. It changes those with the same ids in
   * place and adds the others at the end. Reasoning and activities stay, also where another message has their id.
   */
  #canMend(messages: readonly AgUiMessage[]): boolean {
    const roles = new Map(messages.map(({ id, role }) => [id, role]));
    const held = this.#readerMessages();
    if (held.some(({ id, role }) => role !== undefined && roles.get(id) !== role)) return false;
    const kept = held.filter(({ id }) => roles.has(id));
    const isAtEnd = this.#options.after === "" || kept.length === messages.length;
    return isAtEnd && kept.every(({ id }, at) => messages[at]?.id === id);
  }

  /** The messages of the run that the reader holds, in order, with the roles of those that a snapshot lets stay. */
  #readerMessages(): readonly ReaderMessage[] {
    return this.#sent.all.flatMap((item) =>
      item.parts.flatMap(({ kind, call }, at): readonly ReaderMessage[] => {
        if (kind === "opaque") return [];
        const id = kind === "note" ? item.id : messageIdOf(item.id, at);
        const role = plain.has(kind) ? undefined : kind === "reasoning" ? kind : "activity";
        return call?.outcome === undefined
          ? [{ id, role }]
          : [{ id, role }, { id: resultIdOf(id) }];
      }),
    );
  }
}

/** A message that a reader holds. */
interface ReaderMessage {
  readonly id: string;
  readonly role?: AgUiMessage["role"] | undefined;
}

const plain = new Set(["text", "tool_call", "note", "opaque"]);

/** What a person sent while the run was on. False: it is more than text, which is all that can be streamed. */
function encodeNote(sent: SentItem, messages: readonly AgUiMessage[], out: AgUiEvent[]): boolean {
  if (isSent(sent)) return true;
  beginSentPart(sent, sent.id, "note").isDone = true;
  for (const message of messages) {
    if (message.role !== "user" || typeof message.content !== "string") return false;
    const { id: messageId, content: delta, ...named } = message;
    out.push({ type: "TEXT_MESSAGE_START", messageId, ...named });
    if (delta !== "") out.push({ type: "TEXT_MESSAGE_CONTENT", messageId, delta });
    out.push({ type: "TEXT_MESSAGE_END", messageId });
  }
  return true;
}

/** Before its start, the items of its record are those of another run. */
function isBegun({ phase }: RunRecord): boolean {
  return phase !== "coming" && phase !== "gone";
}

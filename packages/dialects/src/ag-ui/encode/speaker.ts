import type { Json, SessionState, ViewItem, ViewPart, ViewToolCall } from "@millrace/core";
import type { BlobUrl } from "../../shared/encode/file-url.ts";
import type { LaneBatch } from "../../shared/encode/lane-batch.ts";
import type { RunRecord } from "../../shared/encode/run-record.ts";
import { fits, noted, shownItems } from "../../shared/encode/shown-items.ts";
import { Callings } from "./callings.ts";
import { tellDeltas } from "./deltas.ts";
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
import { closing, more, opening, untold, untoldCall } from "./told.ts";
import type { ToldItem, ToldPart } from "./told.ts";

/** To whom a run is sent, and what stands around it there. */
export interface SpeakerOptions {
  readonly asked: AskedRun;
  readonly blobUrl: BlobUrl;
  /** The messages before the run and after it, as JSON. Sent where the reader's list has to be mended. */
  readonly before: string;
  readonly after: string;
  /** What the reader holds as results of its own tools, by the names of their calls. */
  readonly results: ReadonlyMap<string, Json>;
}

/**
 * Tells one reader of a run as events of AG-UI. It holds what the reader was sent, and says what is lacking: so
 * it does not matter by which messages the run came to where it is. What can't be sent by going on is sent by a
 * snapshot of all messages. Pure.
 */
export class Speaker {
  readonly #options: SpeakerOptions;
  #items: ToldItem[] = [];
  #step: string | undefined;
  readonly #callings: Callings;
  #isEnded = false;

  constructor(options: SpeakerOptions) {
    this.#options = options;
    this.#callings = new Callings(options.results);
  }

  /** Whether the reader was sent the end: of the run, or until it answers. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** What was written in a lane since the last call, if that is all that is new. Undefined: `tell` finds out. */
  tellBatch(state: SessionState, batch: LaneBatch): readonly AgUiEvent[] | undefined {
    const told = this.#items.at(-1);
    if (told?.isLive !== true || this.#step === undefined) return undefined;
    if (told.id !== batch.itemId || told.epoch !== batch.epoch) return undefined;
    const lane = state.lanes.find(({ itemId }) => itemId === told.id);
    if (lane === undefined) return undefined;
    return tellDeltas(told, lane, batch);
  }

  /** Everything that the reader lacks of the run. */
  tell(record: RunRecord): readonly AgUiEvent[] {
    const out: AgUiEvent[] = [];
    if (isBegun(record) && !this.#tellItems(record, out)) this.restate(record, out);
    if (record.phase === "coming" || record.phase === "on") return out;
    this.#isEnded = true;
    this.#close(out);
    const isWaiting = record.phase === "waiting";
    out.push(...this.#callings.close(isWaiting));
    const { asked } = this.#options;
    out.push(isWaiting ? waitingEnd(asked, record) : endOf(asked, record));
    return out;
  }

  /** Counts the run as sent so far: the reader holds its messages. What is in no message is sent. */
  adopt(record: RunRecord): readonly AgUiEvent[] {
    const out: AgUiEvent[] = [];
    this.#items = [];
    if (isBegun(record)) this.#tellItems(record, out, true);
    this.#step = undefined;
    return out.filter(({ type }) => type === "CUSTOM" || type === "SUBAGENT_STARTED");
  }

  /** Makes the reader hold the run as it is now, whatever it held. `isAnew`: that is not known. */
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
  #tellItems(record: RunRecord, out: AgUiEvent[], isHeld = false): boolean {
    let at = 0;
    for (const item of shownItems(record.state)) {
      const known = this.#items[at];
      if (known !== undefined && !fits(known, item, record)) {
        if (this.#items.slice(at).some(isTold)) return false;
        this.#items.splice(at);
      }
      const told = (this.#items[at] ??= noted(untold(item.id), item, record));
      if (told.view !== item) {
        if (!this.#tellItem(told, item, record, out) && !isHeld) return false;
        told.view = item;
      }
      at += 1;
      if (item.live) break; // what comes after it is sent after it
    }
    // A reply that was lost with its process stays until another takes its place, or none does.
    return record.phase === "on" || !this.#items.slice(at).some(isTold);
  }

  #tellItem(told: ToldItem, item: ViewItem, record: RunRecord, out: AgUiEvent[]): boolean {
    if (item.author === "user")
      return tellNote(told, noteMessages(item, record, this.#options.blobUrl), out);
    for (const [at, part] of item.parts.entries()) if (!this.#tellPart(told, at, part, out)) break;
    for (const [at, part] of item.parts.entries()) {
      const call = told.parts[at]?.call;
      if (call === undefined || part.kind !== "tool_call") continue;
      if (!this.#callings.tell(call, part, messageIdOf(told.id, at), out)) return false;
    }
    return true;
  }

  /** False: it has nothing to show yet, and what follows it waits. */
  #tellPart(told: ToldItem, at: number, part: ViewPart, out: AgUiEvent[]): boolean {
    const known = told.parts[at];
    switch (part.kind) {
      case "text":
      case "reasoning":
        this.#tellText(told, at, part, part.text, out);
        return true;
      case "tool_call":
        this.#tellText(told, at, part, argumentsOf(part), out);
        return true;
      case "media":
      case "file":
      case "structured":
      case "custom": {
        const activity = activityOf(part, this.#options.blobUrl);
        if (activity === undefined) return known !== undefined;
        const { value } = activity.content;
        if (known !== undefined && known.value === value) return true;
        const data = known ?? this.#begin(told, part, out);
        data.value = value;
        data.isDone = true; // nothing is open of it
        out.push({ type: "ACTIVITY_SNAPSHOT", messageId: messageIdOf(told.id, at), ...activity });
        return true;
      }
      case "opaque":
        if (known === undefined) told.parts.push({ ...partOf(part), isDone: true });
        return true;
      default:
        part satisfies never;
        return true;
    }
  }

  #tellText(
    told: ToldItem,
    at: number,
    part: Extract<ViewPart, { kind: "text" | "reasoning" }> | ViewToolCall,
    text: string,
    out: AgUiEvent[],
  ): void {
    const known = told.parts[at];
    if (known?.isDone === true) return;
    const messageId = messageIdOf(told.id, at);
    const begun = known ?? this.#begin(told, part, out);
    if (part.kind === "tool_call") begun.call ??= untoldCall(part.callId, part.tool);
    if (known === undefined) out.push(...opening(begun, messageId));
    if (text.length > begun.sent) out.push(more(begun, messageId, text.slice(begun.sent)));
    begun.sent = text.length;
    const isOpen = part.kind === "tool_call" ? part.state === "writing" : part.live;
    if (isOpen) return;
    begun.isDone = true;
    out.push(...closing(begun, messageId));
  }

  /** The first part of an item begins its step. */
  #begin(told: ToldItem, part: ViewPart, out: AgUiEvent[]): ToldPart {
    if (told.parts.every(({ kind }) => kind === "opaque")) this.#beginStep(out);
    const begun = partOf(part);
    told.parts.push(begun);
    return begun;
  }

  #beginStep(out: AgUiEvent[]): void {
    this.#endStep(out);
    const steps = this.#items.filter(({ parts }) => parts[0]?.kind !== "note").length;
    this.#step = `step ${steps}`;
    out.push({ type: "STEP_STARTED", stepName: this.#step });
  }

  #endStep(out: AgUiEvent[]): void {
    if (this.#step !== undefined) out.push({ type: "STEP_FINISHED", stepName: this.#step });
    this.#step = undefined;
  }

  /** Ends what is open. A reader refuses the end of a run before. */
  #close(out: AgUiEvent[]): void {
    for (const { id, parts } of this.#items)
      for (const [at, part] of parts.entries()) {
        if (part.isDone) continue;
        part.isDone = true;
        out.push(...closing(part, messageIdOf(id, at)));
      }
    this.#endStep(out);
  }

  /** Takes up what is still being written, of which the reader holds the beginning. */
  #reopen(out: AgUiEvent[]): void {
    const told = this.#items.at(-1);
    if (told?.isLive !== true || !isTold(told)) return;
    this.#beginStep(out);
    for (const [at, part] of told.parts.entries())
      if (!part.isDone) out.push(...opening(part, messageIdOf(told.id, at)));
  }

  /**
   * Whether one snapshot makes the reader hold these messages of the run. It changes those with the same ids in
   * place and adds the others at the end. Reasoning and activities stay, also where another message has their id.
   */
  #canMend(messages: readonly AgUiMessage[]): boolean {
    const roles = new Map(messages.map(({ id, role }) => [id, role]));
    const held = this.#held();
    if (held.some(({ id, role }) => role !== undefined && roles.get(id) !== role)) return false;
    const kept = held.filter(({ id }) => roles.has(id));
    const isAtEnd = this.#options.after === "" || kept.length === messages.length;
    return isAtEnd && kept.every(({ id }, at) => messages[at]?.id === id);
  }

  /** The messages of the run that the reader holds, in order, with the roles of those that a snapshot lets stay. */
  #held(): readonly Held[] {
    return this.#items.flatMap((item) =>
      item.parts.flatMap(({ kind, call }, at): readonly Held[] => {
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
interface Held {
  readonly id: string;
  readonly role?: AgUiMessage["role"] | undefined;
}

const plain = new Set(["text", "tool_call", "note", "opaque"]);

/** What a person sent while the run was on. False: it is more than text, which is all that can be streamed. */
function tellNote(told: ToldItem, messages: readonly AgUiMessage[], out: AgUiEvent[]): boolean {
  if (told.parts.length > 0) return true;
  told.parts.push({ id: told.id, kind: "note", sent: 0, isDone: true });
  for (const message of messages) {
    if (message.role !== "user" || typeof message.content !== "string") return false;
    const { id: messageId, content: delta, ...named } = message;
    out.push({ type: "TEXT_MESSAGE_START", messageId, ...named });
    if (delta !== "") out.push({ type: "TEXT_MESSAGE_CONTENT", messageId, delta });
    out.push({ type: "TEXT_MESSAGE_END", messageId });
  }
  return true;
}

function isTold({ parts }: ToldItem): boolean {
  return parts.length > 0;
}

/** Before its start, the items of its record are those of another run. */
function isBegun({ phase }: RunRecord): boolean {
  return phase !== "coming" && phase !== "gone";
}

function partOf({ id, kind }: ViewPart): ToldPart {
  return { id, kind, sent: 0, isDone: false };
}

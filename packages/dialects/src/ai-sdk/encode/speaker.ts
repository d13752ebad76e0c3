import type { Json, SessionState, ViewItem, ViewPart, ViewToolCall } from "@millrace/core";
import { CallNames } from "../../shared/encode/call-names.ts";
import type { LaneBatch } from "../../shared/encode/lane-batch.ts";
import type { RunRecord } from "../../shared/encode/run-record.ts";
import { fits, noted, shownItems } from "../../shared/encode/shown-items.ts";
import { tellOutcome, tellQuestion } from "./calls.ts";
import type { Chunk } from "./chunks.ts";
import { endOf, waitingEnd } from "./ends.ts";
import { dataOf, userParts } from "./parts.ts";
import { urlOf } from "../../shared/encode/file-url.ts";
import type { BlobUrl } from "../../shared/encode/file-url.ts";
import type { Profile } from "./profiles.ts";
import { untold, untoldCall } from "./told.ts";
import type { ToldItem, ToldPart } from "./told.ts";
import { tellDeltas } from "./deltas.ts";

/** Sent to a reader whose message can't be mended in its stream. Nothing else is wrong: the run goes on. */
const begunAgain = "This reply was begun again. Load the conversation anew to see it.";

/** To whom, and as which message. */
export interface SpeakerOptions {
  readonly profile: Profile;
  readonly blobUrl: BlobUrl;
  readonly messageId: string;
}

/**
 * Tells one reader of a run as a UI message. It holds what the reader was sent, and says what is lacking: so
 * it does not matter by which messages the run came to where it is. Pure.
 */
export class Speaker {
  readonly #profile: Profile;
  readonly #blobUrl: BlobUrl;
  readonly #messageId: string;
  #isBegun = false;
  #isEnded = false;
  #isBroken = false;
  readonly #items: ToldItem[] = [];
  readonly #names = new CallNames();
  /** `empty`: it was begun, and its parts were taken back. */
  #step: "none" | "open" | "empty" = "none";

  constructor({ profile, blobUrl, messageId }: SpeakerOptions) {
    this.#profile = profile;
    this.#blobUrl = blobUrl;
    this.#messageId = messageId;
  }

  /** Whether the reader was sent the end: of the run, of what it can be sent, or until it answers. */
  get isEnded(): boolean {
    return this.#isEnded || this.#isBroken;
  }

  /** What was written in a lane since the last call, if that is all that is new. Undefined: `tell` finds out. */
  tellBatch(state: SessionState, batch: LaneBatch): readonly Chunk[] | undefined {
    const told = this.#items.at(-1);
    if (told?.isLive !== true || this.#step !== "open") return undefined;
    if (told.id !== batch.itemId || told.epoch !== batch.epoch) return undefined;
    const lane = state.lanes.find(({ itemId }) => itemId === told.id);
    if (lane === undefined) return undefined;
    return tellDeltas(told, lane, batch, (callId) => this.#names.nameOf(callId, told.id));
  }

  /** Everything that the reader lacks of the run. */
  tell(record: RunRecord): readonly Chunk[] {
    if (this.#isBroken || record.phase === "coming" || record.phase === "gone") return [];
    const out: Chunk[] = [];
    if (!this.#isBegun) {
      this.#isBegun = true;
      out.push({ type: "start", messageId: this.#messageId });
    }
    if (record.phase === "on") this.#isEnded = false;
    this.#tellItems(record, out);
    if (!this.#isBroken && record.phase !== "on" && !this.#isEnded) {
      this.#isEnded = true;
      this.#endStep(out);
      const isOver = record.phase === "over";
      out.push(...(isOver ? endOf(this.#profile, record) : waitingEnd));
    }
    if (this.#isBroken) out.push({ type: "error", errorText: begunAgain });
    return out;
  }

  #tellItems(record: RunRecord, out: Chunk[]): void {
    let at = 0;
    for (const item of shownItems(record.state)) {
      const known = this.#items[at];
      if (known !== undefined && !fits(known, item, record)) this.#retract(at, out);
      if (this.#isBroken) return;
      const told = (this.#items[at] ??= noted(untold(item.id), item, record));
      if (told.view !== item || told.asked !== record.asked) {
        this.#tellItem(told, item, record, out);
        told.view = item;
        told.asked = record.asked;
      }
      at += 1;
      if (item.live) break; // what comes after it is sent after it
    }
    // A reply that was lost with its process stays until another takes its place, or none does.
    if (record.phase !== "on" && this.#items.length > at) this.#retract(at, out);
  }

  #tellItem(told: ToldItem, item: ViewItem, record: RunRecord, out: Chunk[]): void {
    if (item.author === "user") return this.#tellNote(told, item, record, out);
    for (const [at, part] of item.parts.entries()) if (!this.#tellPart(told, at, part, out)) break;
    for (const asked of record.asked) {
      if (asked.itemId !== item.id) continue;
      const name = this.#names.nameOf(asked.question.callId, item.id);
      const at = told.parts.findIndex(({ call }) => call?.toolCallId === name);
      const part = item.parts[at];
      const call = told.parts[at]?.call;
      const isOpen =
        part?.kind === "tool_call" && part.state === "waiting" && asked.answer === undefined;
      if (call !== undefined) out.push(...tellQuestion(this.#profile, call, asked, isOpen));
    }
    for (const [at, part] of item.parts.entries()) {
      const call = told.parts[at]?.call;
      if (call === undefined || part.kind !== "tool_call") continue;
      out.push(...tellOutcome(this.#profile, call, part));
    }
  }

  /** What a person sent while the run was on. */
  #tellNote(told: ToldItem, item: ViewItem, { state }: RunRecord, out: Chunk[]): void {
    if (told.parts.length > 0) return;
    told.parts.push({ id: item.id, kind: "note", sent: 0, isDone: true });
    // In a step that was begun again, it would be taken back with the next attempt.
    if (this.#step === "empty") this.#step = "open";
    const stored = state.items.toArray().find(({ id }) => id === item.id);
    const parts = userParts(stored?.parts ?? [], this.#blobUrl);
    out.push(
      this.#profile.steers
        ? { type: "steering-message", id: item.id, parts: parts.filter(isTextOrFile) }
        : { type: "data-steering", id: item.id, data: { parts } as unknown as Json },
    );
  }

  /** False: it has nothing to show yet, and what follows it waits. */
  #tellPart(told: ToldItem, at: number, part: ViewPart, out: Chunk[]): boolean {
    const known = told.parts[at];
    switch (part.kind) {
      case "text":
      case "reasoning": {
        const id = String(at);
        const text = known ?? this.#begin(told, part, out);
        if (known === undefined) out.push({ type: `${part.kind}-start`, id });
        if (part.text.length > text.sent) {
          out.push({ type: `${part.kind}-delta`, id, delta: part.text.slice(text.sent) });
          text.sent = part.text.length;
        }
        if (part.live || text.isDone) return true;
        text.isDone = true;
        out.push({ type: `${part.kind}-end`, id });
        return true;
      }
      case "tool_call":
        this.#tellCall(told, known, part, out);
        return true;
      case "media":
      case "file": {
        const url = part.live ? undefined : urlOf(part, this.#blobUrl);
        if (known !== undefined || url === undefined) return known !== undefined;
        this.#begin(told, part, out);
        out.push({ type: "file", url, mediaType: part.mediaType });
        return true;
      }
      case "structured":
      case "custom": {
        const chunk = dataOf(told.id, part);
        if (chunk === undefined) return false;
        const data = known ?? this.#begin(told, part, out);
        if (known === undefined || data.value !== chunk.data) out.push(chunk);
        data.value = chunk.data;
        return true;
      }
      case "opaque":
        if (known === undefined) told.parts.push(partOf(part));
        return true;
      default:
        part satisfies never;
        return true;
    }
  }

  #tellCall(told: ToldItem, known: ToldPart | undefined, part: ViewToolCall, out: Chunk[]): void {
    const begun = known ?? this.#begin(told, part, out);
    const toolCallId = this.#names.nameOf(part.callId, told.id);
    const toolName = part.tool;
    const call = (begun.call ??= untoldCall(toolCallId, toolName));
    if (part.state === "writing") {
      if (known === undefined) out.push({ type: "tool-input-start", toolCallId, toolName });
      if (part.raw.length > begun.sent)
        out.push({
          type: "tool-input-delta",
          toolCallId,
          inputTextDelta: part.raw.slice(begun.sent),
        });
      begun.sent = part.raw.length;
      return;
    }
    if (begun.isDone) return;
    begun.isDone = true;
    if (part.input !== undefined) {
      out.push({ type: "tool-input-available", toolCallId, toolName, input: part.input });
      return;
    }
    // Its arguments are not usable, and its result says so too once it is there.
    const errorText = part.state === "failed" ? part.message : "Its arguments are not usable.";
    call.outcome = errorText;
    out.push({ type: "tool-input-error", toolCallId, toolName, input: part.raw, errorText });
  }

  /** The first part of an item begins its step. */
  #begin(told: ToldItem, part: ViewPart, out: Chunk[]): ToldPart {
    if (told.parts.every(({ kind }) => kind === "opaque")) {
      if (this.#step === "open") out.push({ type: "finish-step" });
      if (this.#step !== "empty") out.push({ type: "start-step" });
      this.#step = "open";
    }
    const begun = partOf(part);
    told.parts.push(begun);
    return begun;
  }

  #endStep(out: Chunk[]): void {
    if (this.#step !== "none") out.push({ type: "finish-step" });
    this.#step = "none";
  }

  /** Takes back what was sent of the items from a place on, where the dialect can. */
  #retract(at: number, out: Chunk[]): void {
    const [first, ...others] = this.#items.splice(at);
    const isTold = (item: ToldItem | undefined): boolean => (item?.parts.length ?? 0) > 0;
    if (!isTold(first) && !others.some(isTold)) return;
    const isCurrent = !others.some(isTold) && this.#step === "open";
    if (!this.#profile.resets || !isCurrent || first?.parts[0]?.kind === "note") {
      this.#isBroken = true;
      return;
    }
    for (const { call } of first?.parts ?? [])
      if (call !== undefined) this.#names.free(call.toolCallId);
    out.push({ type: "reset-step" });
    this.#step = "empty";
  }
}

function partOf({ id, kind }: ViewPart): ToldPart {
  return { id, kind, sent: 0, isDone: false };
}

function isTextOrFile({ type }: { readonly type: string }): boolean {
  return type === "text" || type === "file";
}

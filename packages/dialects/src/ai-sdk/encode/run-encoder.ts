import type { Json, SessionState, ViewItem, ViewPart, ViewToolCall } from "@millrace/core";
import { CallNames } from "../../shared/encode/call-names.ts";
import type { RunRecord } from "../../shared/encode/run-record.ts";
import { beginSentPart, emptySentCall, isSent, SentItems } from "../../shared/encode/sent-items.ts";
import type { Growth, LaneBatch, SentItem, SentPart } from "../../shared/encode/sent-items.ts";
import { encodeOutcome, encodeQuestion } from "./calls.ts";
import type { Chunk } from "./chunks.ts";
import { endOf, waitingEnd } from "./ends.ts";
import { dataOf, userParts } from "./parts.ts";
import { urlOf } from "../../shared/encode/file-url.ts";
import type { BlobUrl } from "../../shared/encode/file-url.ts";
import type { Profile } from "./profiles.ts";

/** Sent to a reader whose message can't be corrected in its stream. Nothing else is wrong: the run goes on. */
/** The words for a page that holds what is not stored. */
export const begunAgain = "This reply was begun again. Load the conversation anew to see it.";

/** For whom, and as which message. */
export interface RunEncoderOptions {
  readonly profile: Profile;
  readonly blobUrl: BlobUrl;
  readonly messageId: string;
}

/**
 * Encodes a run as a UI message for one reader. It holds what the reader was sent, and writes what is lacking: so
 * it does not matter by which messages the run came to where it is. Pure.
 */
export class RunEncoder {
  readonly #profile: Profile;
  readonly #blobUrl: BlobUrl;
  readonly #messageId: string;
  #isBegun = false;
  #isEnded = false;
  #isBroken = false;
  readonly #sent = new SentItems();
  readonly #names = new CallNames();
  /** `empty`: it was begun, and its parts were taken back. */
  #step: "none" | "open" | "empty" = "none";

  constructor({ profile, blobUrl, messageId }: RunEncoderOptions) {
    this.#profile = profile;
    this.#blobUrl = blobUrl;
    this.#messageId = messageId;
  }

  /** Whether the reader was sent the end: of the run, of what it can be sent, or until it answers. */
  get isEnded(): boolean {
    return this.#isEnded || this.#isBroken;
  }

  /** What was written in a lane since the last call, if that is all that is new. Undefined: `encode` finds out. */
  encodeBatch(state: SessionState, batch: LaneBatch): readonly Chunk[] | undefined {
    if (this.#step !== "open") return undefined;
    return this.#sent
      .grow(state, batch, (callId, itemId) => this.#names.nameOf(callId, itemId))
      ?.map(growthChunk);
  }

  /** Everything that the reader lacks of the run. */
  encode(record: RunRecord): readonly Chunk[] {
    if (this.#isBroken || record.phase === "coming" || record.phase === "gone") return [];
    const out: Chunk[] = [];
    if (!this.#isBegun) {
      this.#isBegun = true;
      out.push({ type: "start", messageId: this.#messageId });
    }
    if (record.phase === "on") this.#isEnded = false;
    this.#sent.visit(record, {
      encode: (sent, item) => this.#encodeItem(sent, item, record, out),
      retract: (lost) => this.#retract(lost, out),
    });
    if (!this.#isBroken && record.phase !== "on" && !this.#isEnded) {
      this.#isEnded = true;
      this.#endStep(out);
      const isOver = record.phase === "over";
      out.push(...(isOver ? endOf(this.#profile, record) : waitingEnd));
    }
    if (this.#isBroken) out.push({ type: "error", errorText: begunAgain });
    return out;
  }

  #encodeItem(sent: SentItem, item: ViewItem, record: RunRecord, out: Chunk[]): true {
    if (item.author === "user") return this.#encodeNote(sent, item, record, out);
    for (const [at, part] of item.parts.entries())
      if (!this.#encodePart(sent, at, part, out)) break;
    for (const asked of record.asked) {
      if (asked.itemId !== item.id) continue;
      const name = this.#names.nameOf(asked.question.callId, item.id);
      const at = sent.parts.findIndex(({ call }) => call?.id === name);
      const part = item.parts[at];
      const call = sent.parts[at]?.call;
      const isOpen =
        part?.kind === "tool_call" && part.state === "waiting" && asked.answer === undefined;
      if (call !== undefined) out.push(...encodeQuestion(this.#profile, call, asked, isOpen));
    }
    for (const [at, part] of item.parts.entries()) {
      const call = sent.parts[at]?.call;
      if (call === undefined || part.kind !== "tool_call") continue;
      out.push(...encodeOutcome(this.#profile, call, part));
    }
    return true;
  }

  /** What a person sent while the run was on. */
  #encodeNote(sent: SentItem, item: ViewItem, { state }: RunRecord, out: Chunk[]): true {
    if (isSent(sent)) return true;
    beginSentPart(sent, item.id, "note");
    // In a step that was begun again, it would be taken back with the next attempt.
    if (this.#step === "empty") this.#step = "open";
    const stored = state.items.toArray().find(({ id }) => id === item.id);
    const parts = userParts(stored?.parts ?? [], this.#blobUrl);
    out.push(
      this.#profile.steers
        ? { type: "steering-message", id: item.id, parts: parts.filter(isTextOrFile) }
        : { type: "data-steering", id: item.id, data: { parts } as unknown as Json },
    );
    return true;
  }

  /** False: it has nothing to show yet, and what follows it waits. */
  #encodePart(sent: SentItem, at: number, part: ViewPart, out: Chunk[]): boolean {
    const earlier = sent.parts[at];
    switch (part.kind) {
      case "text":
      case "reasoning": {
        const id = String(at);
        const text = earlier ?? this.#begin(sent, part, out);
        if (earlier === undefined) out.push({ type: `${part.kind}-start`, id });
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
        this.#encodeCall(sent, earlier, part, out);
        return true;
      case "media":
      case "file": {
        const url = part.live ? undefined : urlOf(part, this.#blobUrl);
        if (earlier !== undefined || url === undefined) return earlier !== undefined;
        this.#begin(sent, part, out);
        out.push({ type: "file", url, mediaType: part.mediaType });
        return true;
      }
      case "structured":
      case "custom": {
        const chunk = dataOf(sent.id, part);
        if (chunk === undefined) return false;
        const data = earlier ?? this.#begin(sent, part, out);
        if (earlier === undefined || data.value !== chunk.data) out.push(chunk);
        data.value = chunk.data;
        return true;
      }
      case "opaque":
        if (earlier === undefined) beginSentPart(sent, part.id, part.kind);
        return true;
      default:
        part satisfies never;
        return true;
    }
  }

  #encodeCall(
    sent: SentItem,
    earlier: SentPart | undefined,
    part: ViewToolCall,
    out: Chunk[],
  ): void {
    const begun = earlier ?? this.#begin(sent, part, out);
    const toolCallId = this.#names.nameOf(part.callId, sent.id);
    const toolName = part.tool;
    const call = (begun.call ??= emptySentCall(toolCallId, toolName));
    if (part.state === "writing") {
      if (earlier === undefined) out.push({ type: "tool-input-start", toolCallId, toolName });
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
  #begin(sent: SentItem, part: ViewPart, out: Chunk[]): SentPart {
    if (sent.parts.every(({ kind }) => kind === "opaque")) {
      if (this.#step === "open") out.push({ type: "finish-step" });
      if (this.#step !== "empty") out.push({ type: "start-step" });
      this.#step = "open";
    }
    return beginSentPart(sent, part.id, part.kind);
  }

  #endStep(out: Chunk[]): void {
    if (this.#step !== "none") out.push({ type: "finish-step" });
    this.#step = "none";
  }

  /** Takes back what was sent of these items, where the format can: it has a chunk for the current step. */
  #retract([first, ...others]: readonly SentItem[], out: Chunk[]): boolean {
    const isCurrent = !others.some(isSent) && this.#step === "open";
    this.#isBroken = !this.#profile.resets || !isCurrent || first?.parts[0]?.kind === "note";
    if (this.#isBroken) return false;
    for (const { call } of first?.parts ?? []) if (call !== undefined) this.#names.free(call.id);
    out.push({ type: "reset-step" });
    this.#step = "empty";
    return true;
  }
}

function growthChunk({ at, part, text }: Growth): Chunk {
  const { kind, call } = part;
  const id = String(at);
  if (call !== undefined) {
    const { id: toolCallId, tool: toolName } = call;
    return text === undefined
      ? { type: "tool-input-start", toolCallId, toolName }
      : { type: "tool-input-delta", toolCallId, inputTextDelta: text };
  }
  const named = kind as "text" | "reasoning"; // only parts of text and calls grow
  return text === undefined
    ? { type: `${named}-start`, id }
    : { type: `${named}-delta`, id, delta: text };
}

function isTextOrFile({ type }: { readonly type: string }): boolean {
  return type === "text" || type === "file";
}

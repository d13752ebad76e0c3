import { project } from "@millrace/core";
import type { Delta, Json, LiveEvent, SessionState, ViewItem, ViewToolCall } from "@millrace/core";
import type { OpenLane } from "@millrace/core/reading";
import type { RunRecord } from "./run-record.ts";

/** What one reader was sent of an item, and by which attempt: what another attempt writes is not what was sent. */
export interface SentItem {
  readonly id: string;
  /** While it is written. */
  epoch: number | undefined;
  isLive: boolean;
  /** The fact that stored it. */
  n: number | undefined;
  readonly parts: SentPart[];
  /** The item when it was sent, and the questions then: what is the same is not looked at again. */
  view: ViewItem | undefined;
  asked: unknown;
}

/** What one reader was sent of a part. */
export interface SentPart {
  readonly id: string;
  readonly kind: string;
  /** Characters that were sent. */
  sent: number;
  isDone: boolean;
  value?: Json | undefined;
  call?: SentCall | undefined;
}

/** What one reader was sent of a call. */
export interface SentCall {
  /** Under which the reader finds it. */
  readonly id: string;
  readonly tool: string;
  /** What it came to, as far as that was sent. */
  outcome?: string | undefined;
  /** What the tool reported while it ran, and the characters of its output. */
  message?: string | undefined;
  output: number;
  /** The session of a sub-agent. */
  child?: string | undefined;
  /** The question that was sent last, and whether its answer was. */
  approvalId?: string | undefined;
  isAnswered: boolean;
}

/** An item of which nothing was sent. */
export function emptySentItem(id: string, epoch?: number): SentItem {
  const isLive = epoch !== undefined;
  return { id, epoch, isLive, n: undefined, parts: [], view: undefined, asked: undefined };
}

/** Counts a part as begun, with nothing of it sent. */
export function beginSentPart(item: SentItem, id: string, kind: string): SentPart {
  const part = { id, kind, sent: 0, isDone: false };
  item.parts.push(part);
  return part;
}

/** A call of which nothing was sent but its name. */
export function emptySentCall(id: string, tool: string): SentCall {
  return { id, tool, output: 0, isAnswered: false };
}

/** Whether the reader was sent something of an item. */
export function isSent({ parts }: SentItem): boolean {
  return parts.length > 0;
}

/** What a delta adds to a part. Without a text: the part begins. */
export interface Growth {
  readonly item: SentItem;
  /** The place of the part in its item. */
  readonly at: number;
  readonly part: SentPart;
  readonly text?: string | undefined;
}

/** Events that continue a lane. */
export interface LaneBatch {
  readonly itemId: string;
  readonly epoch: number;
  readonly events: readonly LiveEvent[];
}

/** What a dialect does with the items of a run, for one reader. */
export interface ItemEncoder {
  /** Writes what the reader lacks of an item. False: that can't be written by going on, and the visit ends. */
  readonly encode: (sent: SentItem, item: ViewItem) => boolean;
  /** Takes back items of which something was sent. False: the format can't, and the visit ends. */
  readonly retract: (lost: readonly SentItem[]) => boolean;
}

/** What one reader was sent of a run. An encoder that holds it can find out what the reader lacks, whatever the log did. */
export class SentItems {
  #items: SentItem[] = [];

  get all(): readonly SentItem[] {
    return this.#items;
  }

  /** The item that is being written. */
  get live(): SentItem | undefined {
    const last = this.#items.at(-1);
    return last?.isLive === true ? last : undefined;
  }

  /** Counts nothing as sent. */
  clear(): void {
    this.#items = [];
  }

  /**
   * What a batch adds, if it only continues what was sent: each delta as it came. Costs what is new, however long
   * the reply is. Undefined if it does more: then `visit` finds out what the reader lacks.
   */
  grow(
    { lanes }: SessionState,
    batch: LaneBatch,
    nameOf: (callId: string, itemId: string) => string,
  ): readonly Growth[] | undefined {
    const item = this.live;
    if (item?.id !== batch.itemId || item.epoch !== batch.epoch) return undefined;
    const lane = lanes.find(({ itemId }) => itemId === item.id);
    const deltas = lane && plainDeltas(item.parts, lane, batch);
    return deltas?.flatMap((delta): Growth[] => {
      if (delta.op === "begin_part") {
        const part = beginSentPart(item, delta.partId, delta.kind);
        if ("callId" in delta) part.call = emptySentCall(nameOf(delta.callId, item.id), delta.tool);
        return [{ item, at: item.parts.length - 1, part }];
      }
      if (delta.op !== "append_text") return [];
      const at = item.parts.findLastIndex(({ id }) => id === delta.partId);
      const part = item.parts[at];
      if (part === undefined) return []; // no lane has text of a part that was not begun
      part.sent += delta.chunk.length;
      return [{ item, at, part, text: delta.chunk }];
    });
  }

  /** Goes through the items of a run that changed since they were sent. False: the encoder ended it. */
  visit(record: RunRecord, encoder: ItemEncoder): boolean {
    let at = 0;
    for (const item of visibleItems(record.state)) {
      const earlier = this.#items[at];
      if (earlier !== undefined && !isBeginning(earlier, item, record) && !this.#drop(at, encoder))
        return false;
      const sent = (this.#items[at] ??= sentBy(item, record));
      if (sent.view !== item || sent.asked !== record.asked) {
        if (!encoder.encode(sent, item)) return false;
        sent.view = item;
        sent.asked = record.asked;
      }
      at += 1;
      if (item.live) break; // what comes after it is sent after it
    }
    // A reply that was lost with its process stays until another takes its place, or none does.
    return record.phase === "on" || this.#drop(at, encoder);
  }

  /** Forgets the items from a place on, if the reader can do without them. */
  #drop(at: number, { retract }: ItemEncoder): boolean {
    const lost = this.#items.slice(at);
    if (lost.some(isSent) && !retract(lost)) return false;
    this.#items.splice(at);
    return true;
  }
}

/** What readers see of a run: all that follows what began it, but summaries of what came before. */
export function visibleItems(state: SessionState): readonly ViewItem[] {
  const summaries = new Set<string>(state.compactions.map(({ itemId }) => itemId));
  const items = project(state).items.filter(
    ({ id, author }) => !summaries.has(id) && !(state.compacting && author === "agent"),
  );
  const first = items.findIndex(({ author }) => author !== "user");
  return first < 0 ? [] : items.slice(first);
}

/** What a tool that runs reported since the last call, as JSON of any dialect. Undefined: nothing. */
export function newProgress(
  sent: SentCall,
  { message, text }: Extract<ViewToolCall, { state: "running" }>,
): { readonly message?: string; readonly text?: string; readonly from?: number } | undefined {
  // A tool that is repeated begins its output anew.
  const isAnew = text.length < sent.output;
  const from = isAnew ? 0 : sent.output;
  const added = text.slice(from);
  const isNew = message !== undefined && message !== sent.message;
  const isGrown = added !== "" || isAnew;
  if (!isNew && !isGrown) return undefined;
  sent.message = message;
  sent.output = text.length;
  return { ...(isNew ? { message } : {}), ...(isGrown ? { text: added, from } : {}) };
}

function sentBy(item: ViewItem, { state, stored }: RunRecord): SentItem {
  const n = item.live ? undefined : stored.get(item.id)?.n;
  return { ...emptySentItem(item.id, epochOf(state, item)), isLive: item.live, n };
}

/** Whether what was sent of an item is the beginning of what it is now. */
function isBeginning(sent: SentItem, item: ViewItem, { state, stored }: RunRecord): boolean {
  if (sent.id !== item.id) return false;
  if (item.live) return sent.isLive && sent.epoch === epochOf(state, item);
  const by = stored.get(item.id);
  if (!sent.isLive) return sent.n === by?.n;
  if (by?.epoch === undefined || by.epoch !== sent.epoch) return false;
  sent.isLive = false;
  sent.n = by.n;
  return true;
}

function epochOf({ lanes }: SessionState, { id }: ViewItem): number | undefined {
  return lanes.find(({ itemId }) => itemId === id)?.epoch;
}

/** The deltas of a batch, if all of them continue what was sent of the lane's parts. Undefined: one does not. */
function plainDeltas(
  sent: readonly SentPart[],
  { draft }: OpenLane,
  { events }: LaneBatch,
): readonly Delta[] | undefined {
  const deltas = events.flatMap((event) => (event.type === "content_delta" ? [event.delta] : []));
  const begun = deltas.filter(({ op }) => op === "begin_part").length;
  if (!events.every(isPlain) || sent.length + begun !== draft.parts.length) return undefined;
  // Its step is still to begin, or a part waits for one before it.
  if (sent.length === 0 || !sent.every(({ id }, at) => id === draft.parts[at]?.id))
    return undefined;
  return deltas;
}

const plainKinds = new Set(["text", "reasoning", "tool_call"]);

/** Whether an event begins a part of text, continues one, or changes no content. */
function isPlain(event: LiveEvent): boolean {
  if (event.type !== "content_delta") return event.type !== "attempt_started";
  const { delta } = event;
  return delta.op === "append_text" || (delta.op === "begin_part" && plainKinds.has(delta.kind));
}

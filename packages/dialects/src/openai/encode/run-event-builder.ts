import type { Fact, Item, Part, SessionState } from "@millrace/core";
import type { Followed } from "@millrace/core/reading";
import type { FactOf } from "@millrace/core/writing";
import type { FollowedRun } from "../../shared/encode/run-record.ts";
import { SegmentFollower } from "./response-segment.ts";
import { beginSentPart, emptySentItem, isSent } from "../../shared/encode/sent-items.ts";
import type { SentItem, SentPart } from "../../shared/encode/sent-items.ts";
import { callOf, draftPart, isResultOf, isText, storedPart } from "./reply-parts.ts";
import type { ReplyPart } from "./reply-parts.ts";
import type { RunCall, RunEvent, TextPart } from "./run-events.ts";

/** A segment of a run for one reader. */
export interface FollowedSegment extends FollowedRun {
  /** The fact after which the segment begins. */
  readonly from: number;
  /** Where the segment before it began, if it is not the first. */
  readonly before?: number | undefined;
}

/**
 * Builds the events of one segment of a run, in an order that its facts alone decide: so every reading of it is the
 * same, however much of it was read while it was written. Only how a text was cut into pieces differs. Pure.
 */
export class RunEventBuilder {
  readonly #run: FollowedSegment;
  readonly #follower: SegmentFollower;
  /** What was sent of a reply that is being written. */
  #reply: SentItem | undefined;
  /** The replies that were sent, as they were then. */
  readonly #stored = new Map<string, Item>();
  /** The facts that stored other content of a reply than an attempt wrote. */
  readonly #exchanged: ReadonlyMap<string, number>;
  readonly #calls: OpenCall[] = [];
  #out: RunEvent[] = [];
  #broken: "again" | "behind" | undefined;
  #isOver = false;
  /** Whether it has gone on from the wait at which it begins. */
  #isOn: boolean;

  /** `facts`: what is stored of the run, which is taken first. */
  constructor(run: FollowedSegment, facts: readonly Fact[]) {
    this.#run = run;
    this.#exchanged = exchangesIn(facts);
    this.#isOn = run.from === 0;
    this.#follower = new SegmentFollower(run);
  }

  /** Whether nothing follows. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get state(): SessionState {
    return this.#follower.state;
  }

  /** Whether the run has begun. */
  get isBegun(): boolean {
    return this.#follower.phase !== "coming";
  }

  /** The attempt at the reply that is being written. */
  get writing(): number | undefined {
    return this.#reply?.epoch;
  }

  /** Whether a tool of the server runs: no reply is written meanwhile. */
  get isCalling(): boolean {
    return this.#calls.some(({ stage }) => stage === "begun");
  }

  /** What the next message of the session adds. */
  take(message: Followed["message"]): readonly RunEvent[] {
    if (this.#isOver) return [];
    this.#out = [];
    const { head } = this.state;
    if (isUndoing(message)) this.#break();
    else if (!this.#follower.take(message)) return [];
    else if ("events" in message) this.#addLane(message);
    else if (!("closedLanes" in message)) this.#addFact(message);
    // A snapshot is as good as its lanes, unless there are facts in it that decide the order.
    else if (this.state.head === head) for (const lane of this.state.lanes) this.#addLane(lane);
    else this.#break("behind");
    const isEnd = this.#endsAt("n" in message ? message.n : 0);
    if (isEnd) this.#close();
    const events = this.#follower.state.head > this.#run.from ? this.#out : [];
    const why = this.#broken;
    return why === undefined ? events : [...events, { type: "broken", why }];
  }

  #endsAt(n: number): boolean {
    const { phase } = this.#follower;
    if (this.#broken !== undefined || phase === "over" || phase === "gone")
      return (this.#isOver = true);
    if (n <= this.#run.from) return false;
    const wasOn = this.#isOn;
    this.#isOn = phase === "on";
    return (this.#isOver = wasOn && phase === "waiting");
  }

  #addFact(fact: Fact): void {
    if (this.#follower.phase === "coming") return;
    switch (fact.type) {
      case "run_started":
        return void this.#out.push({ type: "started" });
      case "item_committed":
      case "item_replaced":
        return this.#addItem(fact);
      case "approval_requested": {
        const { call } = this.#find(fact.callId) ?? {};
        const { approvalId } = fact;
        if (call === undefined || call.approvalId === approvalId) return;
        call.approvalId = approvalId;
        return void this.#out.push({ type: "asked_person", call, approvalId });
      }
      case "tool_execution_started": {
        const open = this.#find(fact.callId);
        if (open === undefined || open.stage !== "open") return;
        open.stage = fact.client === true ? "client" : "begun";
        const type = fact.client === true ? "asked_client" : "call_begun";
        return void this.#out.push({ type, call: open.call });
      }
      default: // no reader sees it
    }
  }

  #addItem(fact: StoringFact): void {
    const { item } = fact;
    const { author, parts, id } = item;
    if (author === "user" || (author === "agent" && this.state.compacting)) return;
    if (author === "tool") return parts.forEach((part) => this.#settle(part));
    const known = this.#stored.get(id);
    this.#stored.set(id, item);
    if (known !== undefined) {
      if (known !== item) this.#break();
      return;
    }
    const reply = this.#replyOf(id, this.#attemptOf(fact));
    if (reply !== undefined) this.#addParts(reply, parts.map(storedPart), true);
    this.#reply = undefined;
  }

  #addLane({ itemId, epoch }: { readonly itemId: string; readonly epoch: number }): void {
    // What is written now is of the run that this one waits for.
    if (this.#follower.phase === "coming") return;
    const lane = this.state.lanes.find((open) => open.itemId === itemId);
    if (lane === undefined || lane.callId !== undefined) return;
    if (lane.author === "agent" && this.state.compacting) return;
    const reply = this.#replyOf(itemId, epoch);
    if (reply !== undefined) this.#addParts(reply, lane.draft.parts.map(draftPart), false);
  }

  /** Which attempt wrote an item as it is stored: an epoch, or below 0 the fact that stored other content. */
  #attemptOf({ type, item, epoch, n }: StoringFact): number {
    const exchanged = this.#exchanged.get(item.id);
    if (exchanged !== undefined) return -exchanged;
    return type === "item_committed" && epoch !== undefined ? epoch : -n;
  }

  /** What was sent of this attempt at a reply. Undefined: something was sent of another one. */
  #replyOf(itemId: string, attempt: number): SentItem | undefined {
    const sent = this.#reply;
    if (sent?.id === itemId && sent.epoch === attempt) return sent;
    // Nothing is wrong with another attempt at a reply of which nothing was sent.
    if (sent !== undefined && isSent(sent)) {
      this.#break();
      return undefined;
    }
    return (this.#reply = emptySentItem(itemId, attempt));
  }

  /** The parts of a reply, one after another. A call without a result waits for the facts about it. */
  #addParts(reply: SentItem, parts: readonly ReplyPart[], isStored: boolean): void {
    for (const [at, { kind, isDone, sent }] of reply.parts.entries())
      if (isDone && isText(kind) && parts[at]?.length !== sent) return this.#break();
    for (const [at, part] of parts.entries()) {
      if (reply.parts[at]?.isDone === true) continue;
      const sent = reply.parts[at] ?? this.#beginPart(reply, at, part);
      if (isText(part.kind)) {
        const isFollowed = parts.slice(at + 1).some((next) => next.length !== undefined);
        if (!this.#addText(reply, sent, part, isStored || isFollowed)) return;
      } else if (part.kind === "tool_call") {
        const named = { id: sent.id, by: attemptAt(reply) };
        const call = isStored || part.isWhole ? callOf(named, part) : undefined;
        const result = call && parts.find((each) => each.isWhole && isResultOf(each, call.callId));
        if (call === undefined || (!isStored && result === undefined)) return;
        this.#calls.push({ call, stage: "open" });
        if (result?.whole !== undefined) this.#settle(result.whole);
      }
      sent.isDone = true;
    }
  }

  #beginPart(reply: SentItem, at: number, { kind }: ReplyPart): SentPart {
    // A name of its own in the run, and another one for each attempt: clients add texts up by it.
    const id = `${reply.id.replace(/^item_/, "")}_${at}_${nameOfAttempt(reply)}`;
    const sent = beginSentPart(reply, id, kind);
    if (isText(kind)) this.#out.push({ type: "part_begun", part: textOf(reply, sent) });
    return sent;
  }

  /** False: more of it may come. */
  #addText(
    reply: SentItem,
    sent: SentPart,
    { after, isWhole }: ReplyPart,
    isEnd: boolean,
  ): boolean {
    const part = textOf(reply, sent);
    const text = after(sent.sent);
    if (text !== "") {
      sent.sent += text.length;
      this.#out.push({ type: "part_grown", part, text });
    }
    if (!isEnd && !isWhole) return false;
    this.#out.push({ type: "part_ended", part, text: after(0) });
    return true;
  }

  #settle(part: Part): void {
    if (part.kind !== "tool_result") return;
    const open = this.#find(part.callId);
    if (open === undefined) return;
    const { stage, call } = open;
    open.stage = "ended";
    if (stage === "client" || stage === "ended") return; // the reader sent it
    if (stage === "open") this.#out.push({ type: "call_begun", call });
    const { status, text } = part;
    this.#out.push({ type: "call_ended", call, result: { status, text } });
  }

  /** The last call of this id: ids come again in later replies. */
  #find(callId: string): OpenCall | undefined {
    return this.#calls.findLast(({ call }) => call.callId === callId);
  }

  /** Ends what is open at the end of the segment. */
  #close(): void {
    if (this.#reply !== undefined && isSent(this.#reply)) return this.#break();
    for (const open of this.#calls) {
      if (open.stage !== "begun") continue;
      open.stage = "ended";
      this.#out.push({ type: "call_ended", call: open.call });
    }
  }

  #break(why: "again" | "behind" = "again"): void {
    this.#broken ??= why;
    this.#isOver = true;
  }
}

interface OpenCall {
  readonly call: RunCall;
  stage: "open" | "client" | "begun" | "ended";
}

type StoringFact = FactOf<"item_committed" | "item_replaced">;

/** Every reply here has one: `#replyOf` makes them. */
function attemptAt({ epoch = 0 }: SentItem): number {
  return epoch;
}

function nameOfAttempt(reply: SentItem): string {
  const attempt = attemptAt(reply);
  return attempt < 0 ? `n${-attempt}` : attempt.toString(36);
}

function textOf(reply: SentItem, { id, kind }: SentPart): TextPart {
  return { id, kind: kind as TextPart["kind"], by: attemptAt(reply) }; // only texts get here
}

/** The facts that stored other content of an item than an attempt wrote, the last one of each item. */
function exchangesIn(facts: readonly Fact[]): ReadonlyMap<string, number> {
  return new Map(
    facts.flatMap((fact) => (fact.type === "item_replaced" ? [[fact.item.id, fact.n]] : [])),
  );
}

function isUndoing(message: Followed["message"]): boolean {
  return "type" in message && message.type === "session_claimed" && message.to !== undefined;
}

/**
 * The facts of a run with each reply as it is now, also where it was first stored: for one who reads it later
 * there was never another.
 */
export function asStored(facts: readonly Fact[]): readonly Fact[] {
  const latest = new Map<string, Item>();
  for (const fact of facts) if (isStoring(fact)) latest.set(fact.item.id, fact.item);
  return facts.map((fact) =>
    isStoring(fact) ? { ...fact, item: latest.get(fact.item.id) ?? fact.item } : fact,
  );
}

function isStoring(fact: Fact): fact is StoringFact {
  return fact.type === "item_committed" || fact.type === "item_replaced";
}

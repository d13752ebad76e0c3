import type { Fact, Item, Part, SessionState } from "@millrace/core";
import type { Followed } from "@millrace/core/reading";
import type { FactOf } from "@millrace/core/writing";
import type { FollowedRun } from "../../shared/encode/run-record.ts";
import { LegFollower } from "./leg.ts";
import { callOf, draftPart, isResultOf, shownPart } from "./shown-parts.ts";
import type { ShownPart } from "./shown-parts.ts";
import type { Told, ToldCall, ToldPart } from "./told.ts";

/** A leg of a run for one reader. */
export interface ToldLeg extends FollowedRun {
  /** The fact after which the leg begins. */
  readonly from: number;
  /** Where the leg before it began, if it is not the first. */
  readonly before?: number | undefined;
}

/**
 * Tells one leg of a run, in an order that its facts alone decide: so every reading of it is the same, however
 * much of it was read while it was written. Only how a text was cut into pieces differs. Pure.
 */
export class RunTeller {
  readonly #run: ToldLeg;
  readonly #follower: LegFollower;
  #reply: ToldReply | undefined;
  /** The replies that were sent, as they were then. */
  readonly #stored = new Map<string, Item>();
  readonly #calls: OpenCall[] = [];
  #out: Told[] = [];
  #broken: "again" | "behind" | undefined;
  #isOver = false;
  /** Whether it has gone on from the wait at which it begins. */
  #isOn: boolean;

  constructor(run: ToldLeg) {
    this.#run = run;
    this.#isOn = run.from === 0;
    this.#follower = new LegFollower(run);
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

  /** What the next message of the session adds. */
  take(message: Followed["message"]): readonly Told[] {
    if (this.#isOver) return [];
    this.#out = [];
    const { head } = this.state;
    if (isUndoing(message)) this.#break();
    else if (!this.#follower.take(message)) return [];
    else if ("events" in message) this.#tellLane(message);
    else if (!("closedLanes" in message)) this.#tellFact(message);
    // A snapshot is as good as its lanes, unless there are facts in it that decide the order.
    else if (this.state.head === head) for (const lane of this.state.lanes) this.#tellLane(lane);
    else this.#break("behind");
    const isEnd = this.#endsAt("n" in message ? message.n : 0);
    if (isEnd) this.#close();
    const told = this.#follower.state.head > this.#run.from ? this.#out : [];
    const why = this.#broken;
    return why === undefined ? told : [...told, { type: "broken", why }];
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

  #tellFact(fact: Fact): void {
    if (this.#follower.phase === "coming") return;
    switch (fact.type) {
      case "run_started":
        return void this.#out.push({ type: "started" });
      case "item_committed":
      case "item_replaced":
        return this.#tellItem(fact);
      case "approval_requested": {
        const call = this.#find(fact.callId);
        const { approvalId } = fact;
        if (call === undefined || call.told.approvalId === approvalId) return;
        call.told.approvalId = approvalId;
        return void this.#out.push({ type: "asked_person", call: call.told, approvalId });
      }
      case "tool_execution_started": {
        const call = this.#find(fact.callId);
        if (call === undefined || call.stage !== "open") return;
        call.stage = fact.client === true ? "client" : "begun";
        const type = fact.client === true ? "asked_client" : "call_begun";
        return void this.#out.push({ type, call: call.told });
      }
      default: // no reader sees it
    }
  }

  #tellItem({ item, epoch }: FactOf<"item_committed" | "item_replaced">): void {
    const { author, parts, id } = item;
    if (author === "user" || (author === "agent" && this.state.compacting)) return;
    if (author === "tool") return parts.forEach((part) => this.#settle(part));
    const known = this.#stored.get(id);
    this.#stored.set(id, item);
    if (known !== undefined) {
      if (known !== item) this.#break();
      return;
    }
    const told = this.#reply;
    if (told?.itemId === id ? told.epoch !== epoch : told !== undefined) {
      // Nothing is wrong with another attempt at a reply of which nothing was sent.
      if (told !== undefined && told.parts.length > 0) return this.#break();
      this.#reply = undefined;
    }
    const reply = (this.#reply ??= newReply(id, epoch));
    this.#tellParts(reply, parts.map(shownPart), true);
    this.#reply = undefined;
  }

  #tellLane({ itemId, epoch }: { readonly itemId: string; readonly epoch: number }): void {
    const lane = this.state.lanes.find((open) => open.itemId === itemId);
    if (lane === undefined || lane.callId !== undefined) return;
    if (lane.author === "agent" && this.state.compacting) return;
    const known = this.#reply;
    if (known !== undefined && (known.itemId !== itemId || known.epoch !== epoch)) {
      if (known.parts.length > 0) return this.#break();
      this.#reply = undefined;
    }
    const reply = (this.#reply ??= newReply(itemId, epoch));
    this.#tellParts(reply, lane.draft.parts.map(draftPart), false);
  }

  /** The parts of a reply, one after another. A call without a result waits for the facts about it. */
  #tellParts(reply: ToldReply, parts: readonly ShownPart[], isStored: boolean): void {
    for (const [at, told] of reply.parts.entries())
      if (told.isEnded && parts[at]?.length !== told.part.text.length) return this.#break();
    for (; reply.at < parts.length; reply.at += 1) {
      const shown = parts[reply.at];
      if (shown === undefined) return;
      const { kind } = shown;
      if (kind === "text" || kind === "reasoning") {
        const isFollowed = parts.slice(reply.at + 1).some((next) => next.length !== undefined);
        if (!this.#tellText(reply, shown, isStored || isFollowed)) return;
        continue;
      }
      reply.parts[reply.at] ??= untold;
      if (kind !== "tool_call") continue;
      const call = isStored || shown.isWhole ? callOf(nameOfPart(reply), shown) : undefined;
      const result = call && parts.find((each) => each.isWhole && isResultOf(each, call.callId));
      if (call === undefined || (!isStored && result === undefined)) return;
      this.#calls.push({ told: call, stage: "open" });
      if (result?.whole !== undefined) this.#settle(result.whole);
    }
  }

  /** False: more of it may come. */
  #tellText(reply: ToldReply, shown: ShownPart, isEnd: boolean): boolean {
    const { at } = reply;
    let told = reply.parts[at];
    if (told === undefined) {
      const kind = shown.kind as ToldPart["kind"];
      told = { part: { id: nameOfPart(reply), kind, text: "" }, isEnded: false };
      reply.parts[at] = told;
      this.#out.push({ type: "part_begun", part: told.part });
    }
    const { part } = told;
    const text = shown.after(part.text.length);
    if (text !== "") {
      part.text += text;
      this.#out.push({ type: "part_grown", part, text });
    }
    if (!isEnd && !shown.isWhole) return false;
    told.isEnded = true;
    this.#out.push({ type: "part_ended", part });
    return true;
  }

  #settle(part: Part): void {
    if (part.kind !== "tool_result") return;
    const call = this.#find(part.callId);
    if (call === undefined) return;
    const { stage, told } = call;
    call.stage = "ended";
    if (stage === "client" || stage === "ended") return; // the reader sent it
    if (stage === "open") this.#out.push({ type: "call_begun", call: told });
    const { status, text } = part;
    this.#out.push({ type: "call_ended", call: told, result: { status, text } });
  }

  /** The last call of this id: ids come again in later replies. */
  #find(callId: string): OpenCall | undefined {
    return this.#calls.findLast(({ told }) => told.callId === callId);
  }

  /** Ends what is open at the end of the leg. */
  #close(): void {
    if (this.#reply !== undefined && this.#reply.parts.length > 0) return this.#break();
    for (const call of this.#calls) {
      if (call.stage !== "begun") continue;
      call.stage = "ended";
      this.#out.push({ type: "call_ended", call: call.told });
    }
  }

  #break(why: "again" | "behind" = "again"): void {
    this.#broken ??= why;
    this.#isOver = true;
  }
}

/** What was sent of a reply that is being written. */
interface ToldReply {
  readonly itemId: string;
  readonly epoch: number | undefined;
  readonly parts: ToldText[];
  /** The part that is sent next. */
  at: number;
}

interface ToldText {
  readonly part: ToldPart;
  isEnded: boolean;
}

/** In the place of a part that is no text. */
const untold: ToldText = { part: { id: "", kind: "text", text: "" }, isEnded: false };

interface OpenCall {
  readonly told: ToldCall;
  stage: "open" | "client" | "begun" | "ended";
}

function isUndoing(message: Followed["message"]): boolean {
  return "type" in message && message.type === "session_claimed" && message.to !== undefined;
}

/** A name for the part of a reply that is sent next, of its own in the run. */
function nameOfPart({ itemId, at }: ToldReply): string {
  return `${itemId.replace(/^item_/, "")}_${at}`;
}

function newReply(itemId: string, epoch: number | undefined): ToldReply {
  return { itemId, epoch, parts: [], at: 0 };
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

function isStoring(fact: Fact): fact is FactOf<"item_committed" | "item_replaced"> {
  return fact.type === "item_committed" || fact.type === "item_replaced";
}

import { itemId, partId } from "../ids.ts";
import type { CallId, ItemId } from "../ids.ts";
import type { Item } from "./item.ts";
import type { Part, ToolCallPart, ToolResultPart } from "./part.ts";
import type { TranscriptFault, TranscriptFaultCode } from "./transcript.ts";

interface Call {
  readonly part: ToolCallPart;
  readonly place: Place;
  /** Answered inside the item that calls. */
  inline: boolean;
  answer?: Answer;
}

/** A result, with the parts that belong to it: pictures that a tool made stand behind its result. */
interface Answer {
  readonly item: Item;
  /** Where its item stood, and where in that item it did. */
  readonly at: number;
  readonly group: number;
  readonly parts: Part[];
}

/** What is left of an item once the answers in it are taken out. */
interface Place {
  readonly item: Item;
  readonly at: number;
  readonly parts: Part[];
  readonly calls: Call[];
}

/** Pairs answers with calls. `arranged` is computed only when it is called. */
export function arrange(items: readonly Item[]): {
  readonly faults: readonly TranscriptFault[];
  readonly arranged: () => readonly Item[];
} {
  const reader = new Reader();
  for (const [at, item] of items.entries()) reader.read(item, at);
  const faults = [...reader.faults, ...misplaced(items, reader), ...unanswered(reader.places)];
  return { faults, arranged: () => writeDown(items, reader.places) };
}

class Reader {
  readonly faults: TranscriptFault[] = [];
  readonly places: Place[] = [];
  /** Vendors use call ids again in later turns, so a result answers the latest call of its id. */
  readonly #latest = new Map<CallId, Call>();
  readonly #ids = new Set<ItemId>();

  read(item: Item, at: number): void {
    if (this.#ids.has(item.id)) this.#fault("duplicate_item", item);
    this.#ids.add(item.id);
    const place: Place = { item, at, parts: [], calls: [] };
    const calls = new Map<CallId, Call>();
    let answer: Answer | undefined;
    let dropped = false;
    let group = 0;
    for (const part of item.parts) {
      if (part.kind === "tool_call") {
        this.#call(part, place, calls);
      } else if (part.kind === "tool_result") {
        const outcome = this.#result(part, place, calls, group);
        dropped = outcome === "dropped";
        answer = typeof outcome === "object" ? outcome : undefined;
        // Parts of a tool's item before its first answer belong to that answer.
        if (item.author === "tool" && place.calls.length === 0) {
          answer?.parts.unshift(...place.parts.splice(0));
        }
        group += 1;
      } else if (item.author === "tool" && (answer !== undefined || dropped)) {
        // Behind a result in a tool's item: it goes where its result goes.
        answer?.parts.push(part);
      } else {
        place.parts.push(part);
      }
    }
    for (const [id, call] of calls) this.#latest.set(id, call);
    this.#settle(place, item);
  }

  #call(part: ToolCallPart, place: Place, calls: Map<CallId, Call>): void {
    if (calls.has(part.callId)) {
      this.#fault("duplicate_call", place.item, part.callId);
      return;
    }
    const call: Call = { part, place, inline: false };
    calls.set(part.callId, call);
    place.calls.push(call);
    place.parts.push(part);
  }

  #result(
    part: ToolResultPart,
    place: Place,
    own: Map<CallId, Call>,
    group: number,
  ): Answer | "inline" | "dropped" {
    const inside = own.get(part.callId);
    const call = inside ?? this.#latest.get(part.callId);
    if (call === undefined || call.inline || call.answer !== undefined) {
      this.#fault(
        call === undefined ? "result_without_call" : "answered_twice",
        place.item,
        part.callId,
      );
      return "dropped";
    }
    if (inside !== undefined) {
      inside.inline = true;
      place.parts.push(part);
      return "inline";
    }
    call.answer = { item: place.item, at: place.at, group, parts: [part] };
    return call.answer;
  }

  /** Keeps the item's place, unless nothing but answers was in it. */
  #settle(place: Place, item: Item): void {
    if (place.parts.length > 0 || item.parts.length === 0) this.places.push(place);
  }

  #fault(code: TranscriptFaultCode, item: Item, callId?: CallId): void {
    this.faults.push(
      callId === undefined ? { code, itemId: item.id } : { code, itemId: item.id, callId },
    );
  }
}

/** Answers that are there, but not right behind their call and in the order of the calls. */
function misplaced(items: readonly Item[], { places }: Reader): readonly TranscriptFault[] {
  const kept = new Set(places.map(({ at }) => at));
  const owners = ownersOf(places);
  const faults: TranscriptFault[] = [];
  for (const place of places) {
    // The items behind the call that hold its answers and nothing else.
    let end = place.at + 1;
    while (owners.get(end) === place && !kept.has(end) && items[end]?.author === "tool") end += 1;
    let furthest = -1;
    for (const { part, answer } of place.calls) {
      if (answer === undefined) continue;
      const position = answer.at * 1_000_000 + answer.group;
      if (answer.at >= end || position < furthest) {
        faults.push({ code: "out_of_order", itemId: answer.item.id, callId: part.callId });
      }
      furthest = Math.max(furthest, position);
    }
  }
  return faults;
}

/** For each item with answers the one place that they belong to, or nothing if there are several. */
function ownersOf(places: readonly Place[]): ReadonlyMap<number, Place | undefined> {
  const owners = new Map<number, Place | undefined>();
  for (const place of places) {
    for (const { answer } of place.calls) {
      if (answer === undefined) continue;
      const other = owners.has(answer.at) && owners.get(answer.at) !== place;
      owners.set(answer.at, other ? undefined : place);
    }
  }
  return owners;
}

function unanswered(places: readonly Place[]): readonly TranscriptFault[] {
  return places.flatMap(({ item, calls }) =>
    calls
      .filter((call) => !call.inline && call.answer === undefined)
      .map(({ part }) => ({
        code: "unanswered_call" as const,
        itemId: item.id,
        callId: part.callId,
      })),
  );
}

function writeDown(items: readonly Item[], places: readonly Place[]): readonly Item[] {
  const fresh = new FreshIds(items.map(({ id }) => id));
  const used = new Set<ItemId>();
  /** Items of which something stays where it was: that keeps the id. */
  const staying = new Set(places.map(({ item }) => item));
  const named = (item: Item, parts: readonly Part[]): Item => {
    const id = used.has(item.id) ? fresh.make(`${item.id}:again`) : item.id;
    used.add(id);
    const same =
      parts.length === item.parts.length && parts.every((part, at) => part === item.parts[at]);
    return id === item.id && same ? item : { ...item, id, parts };
  };
  const answered = ({ part, answer }: Call, calling: Item): Item => {
    if (answer === undefined) return syntheticAnswer(part, calling, fresh);
    const { item, parts } = answer;
    const { usage: _, ...rest } = item;
    // What the item cost stays with what keeps its id.
    const first = !staying.has(item) && !used.has(item.id);
    if (first) return named(item.author === "tool" ? item : { ...item, author: "tool" }, parts);
    return { ...rest, id: fresh.make(`${item.id}:${part.callId}`), author: "tool", parts };
  };
  return places.flatMap(({ item, parts, calls }) => [
    named(item, parts),
    ...calls.filter((call) => !call.inline).map((call) => answered(call, item)),
  ]);
}

/** Makes ids that are not in use. Deterministic: a repair made twice gives the same transcript. */
class FreshIds {
  readonly #taken: Set<ItemId>;
  /** The last suffix for each base, so that a thousand equal bases don't each count from 1. */
  readonly #counts = new Map<string, number>();

  constructor(taken: Iterable<ItemId>) {
    this.#taken = new Set(taken);
  }

  make(preferred: string): ItemId {
    const base = preferred.slice(-200).toWellFormed();
    let count = (this.#counts.get(base) ?? 0) + 1;
    let id = itemId(count === 1 ? base : `${base}:${count}`);
    while (this.#taken.has(id)) id = itemId(`${base}:${(count += 1)}`);
    this.#counts.set(base, count);
    this.#taken.add(id);
    return id;
  }
}

function syntheticAnswer(part: ToolCallPart, item: Item, fresh: FreshIds): Item {
  const { callId, tool } = part;
  const result: ToolResultPart = {
    kind: "tool_result",
    id: partId("result"),
    callId,
    tool,
    ...whyUnanswered(part, item),
    synthetic: true,
  };
  return {
    id: fresh.make(`${item.id}:${callId}:unanswered`),
    author: "tool",
    parts: [result],
    stop: "end",
  };
}

function whyUnanswered(part: ToolCallPart, item: Item): Pick<ToolResultPart, "status" | "text"> {
  if (part.fault !== undefined) {
    return { status: "failed", text: `not run: its arguments are not usable (${part.fault.code})` };
  }
  if (item.stop === "aborted") return { status: "aborted", text: "not run: the turn was stopped" };
  if (item.stop === "end" || item.stop === "tools") {
    return { status: "unknown", text: "no result was recorded; it may or may not have run" };
  }
  return { status: "failed", text: `not run: the reply was cut short (${item.stop})` };
}

import { encode } from "./encode.ts";
import type { Draft } from "../delta/draft.ts";
import type { CommitPart, Delta } from "../delta/delta.ts";
import { fold } from "../delta/fold.ts";
import { findPart } from "../delta/verify.ts";
import type { LiveEvent } from "../event/event.ts";
import type { Json, JsonObject } from "../json.ts";
import { part as partShape } from "./content-codec.ts";
import { delta as deltaShape } from "./delta-codec.ts";
import { liveEvent } from "./event-codec.ts";
import { same } from "./same.ts";
import { isOfLane, impliedOfDelta, streamedPart } from "./step-references.ts";
import type { LaneIds } from "./step-references.ts";

/** An event in the form of steps, and how many live events it stands for. */
export interface ShortEvent {
  readonly event: JsonObject;
  readonly by: number;
}

/**
 * Live events in the form of steps: a delta is an event of its op, neighbouring texts are one event, and
 * a commit of what was streamed has no part. What the lane at `place` and its draft before them tell is
 * left out.
 */
export function shortEvents(
  place: LaneIds,
  draft: Draft,
  events: readonly LiveEvent[],
): ShortEvent[] {
  const out: ShortEvent[] = [];
  let current = draft;
  let texts: Map<string, string> | undefined;
  let by = 0;
  const endTexts = (): void => {
    if (texts !== undefined)
      out.push({ event: { type: "text", text: textField(current, texts) }, by });
    texts = undefined;
    by = 0;
  };
  for (const event of events) {
    if (event.type === "content_delta" && event.delta.op === "append_text") {
      const { partId, chunk } = event.delta;
      texts ??= new Map();
      texts.set(partId, (texts.get(partId) ?? "") + chunk);
      by += 1;
      current = fold(current, event.delta);
      continue;
    }
    endTexts();
    out.push({ event: shortEvent(place, current, event), by: 1 });
    if (event.type === "content_delta") current = fold(current, event.delta);
  }
  endTexts();
  return out;
}

/** A text alone stands for one that is appended to the newest part. Parts never come within a run of texts. */
function textField({ parts }: Draft, texts: ReadonlyMap<string, string>): Json {
  const newest = parts.at(-1)?.id;
  const only = texts.size === 1 && newest !== undefined ? texts.get(newest) : undefined;
  return only ?? Object.fromEntries(texts);
}

function shortEvent(place: LaneIds, draft: Draft, event: LiveEvent): JsonObject {
  if (event.type === "content_delta") {
    const { delta } = event;
    const short = delta.op === "commit_part" ? shortCommit(draft, delta) : typed(delta);
    const known = impliedOfDelta(place, draft, delta.op, short["kind"]);
    return Object.fromEntries(
      Object.entries(short).filter(
        ([key, value]) => known[key] === undefined || known[key] !== value,
      ),
    );
  }
  const encoded = encode(liveEvent, event);
  // It would be read as another thing. Of an event that is not known only its number counts.
  return isOfLane(encoded["type"]) ? { type: "lane_idled" } : encoded;
}

function typed(delta: Delta): JsonObject {
  const { op, ...fields } = encode(deltaShape, delta);
  return { type: op as string, ...fields };
}

/** Without the part if it is as streamed but for fields that no delta fills; those are named. */
function shortCommit(draft: Draft, delta: CommitPart): JsonObject {
  const open = draft.parts[findPart(draft.parts, delta.partId)];
  if (open?.state !== "open") return typed(delta);
  const made: Readonly<Record<string, unknown>> = { ...streamedPart(open) };
  const given: Readonly<Record<string, unknown>> = { ...delta.part };
  if (Object.keys(made).some((key) => made[key] !== undefined && given[key] === undefined))
    return typed(delta);
  const said = Object.keys(given).filter((key) => !same(given[key], made[key]));
  const short = { type: "commit_part", partId: delta.partId };
  if (said.length === 0) return short;
  const encoded = Object.entries(encode(partShape, delta.part));
  return { ...short, ...Object.fromEntries(encoded.filter(([key]) => said.includes(key))) };
}

import { continuation } from "@millrace/core/model";
import { equalJson } from "@millrace/core/json";
import { itemId, partId } from "@millrace/core/writing";
import type {
  Item,
  ItemId,
  Json,
  Model,
  Part,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
  Transcript,
} from "@millrace/core";
import type { RequestUpdate } from "@millrace/core/model";
import type { ModelRequest, ToolDescription } from "@millrace/core/ports";
import { assemble } from "./assemble.ts";
import { compactionsOf } from "./context.ts";
import type { Context } from "./context.ts";
import { canEnd, leftOutKey } from "./guide.ts";
import { signatureOf } from "./summary.ts";
import { defaultOutputBytes } from "./outputs.ts";
import type { Guide, Stage } from "./guide.ts";

/** What of the target a request depends on. */
export interface RequestTarget {
  /** What may change by updates. Everything else is as it is now, from the request's beginning on. */
  readonly appends: Model["appends"];
  /** True if the shape of answers is asked for by updates, and not by a field of the vendor. */
  readonly outputInWords?: boolean | undefined;
  /** Where the reasoning of an item is valid, by the item. Left out: not limited. */
  readonly scope?: string | undefined;
}

export interface RequestSource {
  readonly context: Context;
  /** All items whose results can be read back. */
  readonly session: readonly Item[];
  readonly outputBytes: (tool: string) => number;
}

/** The parts of a request that come from facts. */
export type RequestContent = Pick<
  ModelRequest,
  "transcript" | "instructions" | "tools" | "output" | "updates"
>;

/**
 * The request that the facts of a session make, whoever sends it and whenever: it depends on no clock, no
 * setting of today and no item that came later. So each request begins with all of an earlier one whose
 * reply was kept, unless a fact says that this was broken off.
 */
export function requestOf(
  source: RequestSource,
  { appends, outputInWords = false, scope }: RequestTarget,
): RequestContent {
  const { context, session, outputBytes } = source;
  const { guide } = context;
  const { transcript } = assemble(context.items.toArray(), {
    compactions: compactionsOf(context),
    session,
    outputBytes: outputLimits(context, outputBytes),
  });
  const newest = guide.stages.at(-1);
  const base = appends === undefined ? newest : guide.stages[0];
  const instructions = base?.instructions;
  const tools = (appends === "tools" ? base?.tools : newest?.tools) ?? [];
  const updates =
    appends === undefined ? [] : updatesOf(guide.stages, transcript, { appends, outputInWords });
  const output = guide.strictOutput ?? (outputInWords ? undefined : newest?.output);
  return {
    transcript: withTurnsToGoOn(shownItems(transcript, guide, scope), guide),
    ...(instructions === undefined ? {} : { instructions }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(output === undefined ? {} : { output: { name: "answer", schema: output } }),
    ...(updates.length === 0 ? {} : { updates }),
  };
}

/**
 * The bytes that a model is given of results without a limit of their own: the usual ones, or those that
 * the agent has now, if the session was begun by a version which stored no limits.
 */
export function outputLimits(
  { items, guide }: Context,
  outputBytes: (tool: string) => number,
): (part: ToolResultPart) => number {
  const { since } = guide;
  if (since === undefined) return () => defaultOutputBytes;
  const end = items.findLastIndex(({ id }) => id === since);
  const old = new Set<Part>(
    items
      .toArray()
      .slice(0, end + 1)
      .flatMap(({ parts }) => parts),
  );
  return (part) => (old.has(part) ? outputBytes(part.tool) : defaultOutputBytes);
}

/** What each stage changes in the one before it. A place that a summary covers is before the first item. */
function updatesOf(
  stages: readonly Stage[],
  transcript: Transcript,
  { appends, outputInWords }: Pick<RequestTarget, "appends" | "outputInWords">,
): readonly RequestUpdate[] {
  const places = placesOf(stages, transcript);
  return stages.flatMap((stage, at): readonly RequestUpdate[] => {
    const before = stages[at - 1];
    const { after } = stage;
    if (before === undefined || after === undefined || !places.has(after)) return [];
    const isShown = stage.notes !== undefined && isAnswered(stages.slice(at), places, transcript);
    const update = updateOf(
      {
        ...before,
        ...(appends === "tools" ? {} : { tools: stage.tools }),
        ...(outputInWords === true ? {} : { output: stage.output }),
      },
      { ...stage, notes: isShown ? stage.notes : undefined },
      after,
    );
    return update === undefined ? [] : [update];
  });
}

/** Where the stages begin. One that begins behind an item which a summary covers is not shown. */
function placesOf(
  stages: readonly Stage[],
  transcript: Transcript,
): ReadonlyMap<ItemId | undefined, number> {
  const places = new Map<ItemId | undefined, number>();
  if (stages.length < 2) return places;
  const wanted = new Set(stages.map(({ after }) => after));
  for (const [at, { id }] of transcript.entries()) if (wanted.has(id)) places.set(id, at);
  return places;
}

/** Whether notes were read: a reply came behind them, or may still come. Others would only be outdated. */
function isAnswered(
  [stage, ...later]: readonly Stage[],
  places: ReadonlyMap<ItemId | undefined, number>,
  transcript: Transcript,
): boolean {
  const from = places.get(stage?.after);
  const next = later.find(({ after }) => places.has(after));
  if (next === undefined || from === undefined) return true;
  const to = places.get(next.after) ?? from;
  return transcript.slice(from + 1, to + 1).some(({ author }) => author === "model");
}

function updateOf(before: Stage, stage: Stage, after: ItemId): RequestUpdate | undefined {
  const words = [
    ...(stage.instructions === before.instructions ? [] : [instructionWords(stage.instructions)]),
    ...(equalJson(stage.output, before.output) ? [] : [outputWords(stage.output)]),
  ];
  const had = new Map(before.tools.map((tool) => [tool.name, tool]));
  const has = new Set(stage.tools.map(({ name }) => name));
  const added = stage.tools.filter((tool) => !isSame(had.get(tool.name), tool));
  const removed = [...had.keys()].filter((name) => !has.has(name));
  const { notes } = stage;
  const isNothing = words.length + added.length + removed.length === 0 && notes === undefined;
  if (isNothing) return undefined;
  return {
    after,
    ...(words.length === 0 ? {} : { text: words.join("\n\n") }),
    ...(notes === undefined ? {} : { notes }),
    ...(added.length === 0 ? {} : { added }),
    ...(removed.length === 0 ? {} : { removed }),
  };
}

function isSame(left: ToolDescription | undefined, right: ToolDescription): boolean {
  return left !== undefined && equalJson(left as unknown as Json, right as unknown as Json); // plain data
}

function instructionWords(instructions: string | undefined): string {
  return instructions === undefined
    ? "The instructions given before no longer apply."
    : `The instructions have changed. From here on these apply:\n\n${instructions}`;
}

function outputWords(output: Json | undefined): string {
  return output === undefined
    ? "Answers need no JSON shape any more."
    : `Your next answer is one JSON value and nothing else, by this JSON Schema:\n${JSON.stringify(output)}`;
}

/** The items without data that the scope may not get, and with texts for parts that are left out. */
function shownItems(transcript: Transcript, guide: Guide, scope: string | undefined): Transcript {
  const { dropped, refused, leftOut, signed } = guide;
  const placeOf = (id: ItemId | undefined): number =>
    id === undefined ? -1 : transcript.findLastIndex((item) => item.id === id);
  const ofScope = scope === undefined ? undefined : dropped[scope];
  const reasoning = Math.max(placeOf(dropped[""]), placeOf(ofScope));
  const refusedAt = placeOf(refused);
  const foreign = placeOf(signed?.through);
  if (reasoning < 0 && foreign < 0 && Object.keys(leftOut).length === 0) return transcript;
  return transcript.map((item, at) => {
    const parts = item.parts.map((part): Part => {
      const text = leftOut[leftOutKey(item.id, part.id)];
      if (text !== undefined) return { kind: "text", id: part.id, text };
      if (part.kind === "reasoning" && at <= reasoning) return withoutOpaque(part);
      if (part.kind === "reasoning" && at <= foreign && item.model !== signed?.model)
        return withoutOpaque(part);
      if (part.kind === "text" && item.id !== signed?.itemId && signatureOf(item) !== undefined)
        return withoutVendorData(part);
      return item.author === "model" && at <= refusedAt ? withoutVendorData(part) : part;
    });
    return parts.every((part, index) => part === item.parts[index]) ? item : { ...item, parts };
  });
}

/**
 * Every vendor wants a user's turn at the end, so that one is put behind a reply that ended a request. It
 * stays there: the reply that came then was written behind it.
 */
function withTurnsToGoOn(transcript: Transcript, { continued, last }: Guide): Transcript {
  const ending = transcript.at(-1);
  const isOpen = ending !== undefined && ending.id === last && canEnd(ending);
  const places = new Set(isOpen ? [...continued, ending.id] : continued);
  if (places.size === 0) return transcript;
  return transcript.flatMap((item): Transcript =>
    places.has(item.id) ? [item, turnToGoOn(item.id)] : [item],
  );
}

/** The id of the turn that is put behind a reply which ended a request. */
export function turnToGoOnId(after: ItemId): ItemId {
  return itemId(`${after}_continue`);
}

function turnToGoOn(after: ItemId): Item {
  const parts = [{ kind: "text", id: partId("p1"), text: continuation }] as const;
  return { id: turnToGoOnId(after), author: "user", parts, stop: "end" };
}

function withoutOpaque(part: ReasoningPart | ToolCallPart): Part {
  if (part.opaque === undefined) return part;
  const { opaque: _, ...rest } = part;
  return rest;
}

/** Vendors sign calls and texts too. */
function withoutVendorData(part: Part): Part {
  if (part.kind === "tool_call") return withoutOpaque(part);
  if (part.kind !== "text" || part.metadata === undefined) return part;
  const { metadata: _, ...rest } = part;
  return rest;
}

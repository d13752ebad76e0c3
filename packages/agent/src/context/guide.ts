import { equalJson, isJsonObject } from "@millrace/core/json";
import type { Fact, InputId, Item, ItemId, Json, JsonObject, TurnId } from "@millrace/core";
import type { ToolDescription } from "@millrace/core/ports";
import { runIdOf } from "@millrace/core/writing";
import type { BodyOf } from "@millrace/core/writing";
import type { Compaction } from "@millrace/core/reading";
import { signatureOf } from "./summary.ts";
import { emptyWatch, watchAfter } from "./notices.ts";
import type { CostWatch } from "./notices.ts";

/** What a model goes by beside the items: the agent's part of a request. */
export interface Guidance {
  readonly instructions?: string | undefined;
  readonly tools: readonly ToolDescription[];
}

type StageContent = Guidance & Pick<Stage, "notes">;

/** The guidance from one place of the session on, and the shape of the answers from there. */
export interface Stage extends Guidance {
  /** The item behind which it begins. Undefined: before the first. */
  readonly after: ItemId | undefined;
  /** The JSON Schema that the answer of the run is to have. */
  readonly output?: Json | undefined;
  /** What holds for the turn that begins there alone. */
  readonly notes?: string | undefined;
}

/**
 * What requests are made of beside the items, by the facts alone. The first stage is the beginning of every
 * request; what changes later stands behind the items that came before it. So a request begins with all of
 * the one before, which vendors keep, and by which they check what a model has thought.
 */
export interface Guide {
  readonly stages: readonly Stage[];
  /** The newest item when the first stage was stored. Results up to it are cut as the agent has it now. */
  readonly since: ItemId | undefined;
  /** The newest item of the session. */
  readonly last: ItemId | undefined;
  /** Reasoning that only its vendor can read is not sent, up to this item; by scope, and `""` for all. */
  readonly dropped: Readonly<Record<string, ItemId>>;
  /** Up to this item a vendor refused them, so that its data in calls is not sent either. */
  readonly refused: ItemId | undefined;
  /** Texts in the place of parts that are left out, by `item part`. */
  readonly leftOut: Readonly<Record<string, string>>;
  /** Replies behind which the next request ended, so that a user's turn was put there to go on. */
  readonly continued: readonly ItemId[];
  /** The turn of the newest item, if that is a reply which another request could end with. */
  readonly replied: TurnId | undefined;
  /** The newest summary, if its vendor has signed it and no reasoning was dropped since. */
  readonly signed: SignedSummary | undefined;
  /** One that is stored, and not yet in the place of what it covers. */
  readonly written: SignedSummary | undefined;
  /** Whether the notes of the newest stage still hold: no input has come since. */
  readonly notesHold: boolean;
  /** How often requests stopped to begin with what was sent before. */
  readonly breaks: number;
  readonly watch: CostWatch;
  /** The output that the run under way asks for, or has its vendor hold to. */
  readonly output: Json | undefined;
  readonly strictOutput: Json | undefined;
  /** Those of inputs that wait. */
  readonly asked: Readonly<Record<InputId, AskedOutput>>;
}

interface SignedSummary {
  readonly itemId: ItemId;
  /** The model that takes it back. What others thought before it was written is not valid behind it. */
  readonly model: string;
  /** The newest item when it was written. */
  readonly through: ItemId | undefined;
}

interface AskedOutput {
  readonly schema: Json;
  readonly strict: boolean;
}

export const emptyGuide: Guide = {
  stages: [],
  since: undefined,
  last: undefined,
  dropped: {},
  refused: undefined,
  leftOut: {},
  continued: [],
  replied: undefined,
  signed: undefined,
  written: undefined,
  notesHold: false,
  breaks: 0,
  watch: emptyWatch,
  output: undefined,
  strictOutput: undefined,
  asked: {},
};

/** The guide after one more fact. Costs little: a stage is added only when something changes. */
export function guideAfter(before: Guide, fact: Fact): Guide {
  const watch = watchAfter(before.watch, fact, before.breaks);
  return changedBy(watch === before.watch ? before : { ...before, watch }, fact);
}

function changedBy(guide: Guide, fact: Fact): Guide {
  switch (fact.type) {
    case "input_accepted": {
      const options = "options" in fact.input ? fact.input.options : undefined;
      const schema = options?.["output"];
      if (schema === undefined) return guide;
      const asked = { schema, strict: options?.["strict"] === true };
      return { ...guide, asked: { ...guide.asked, [fact.inputId]: asked } };
    }
    case "run_started": {
      const [, began] =
        Object.entries(guide.asked).find(([id]) => runIdOf(id as InputId) === fact.runId) ?? [];
      const { output: before, strictOutput: strictBefore } = guide;
      if (began === undefined && before === undefined && strictBefore === undefined) return guide;
      const [output, strictOutput] = began?.strict ? [undefined, began.schema] : [began?.schema];
      return { ...guide, output, strictOutput, asked: {} };
    }
    case "item_committed":
      return withItem(guide, fact);
    case "turn_started":
      return withOutput(guide);
    case "guidance_set":
      return fact.guidance === undefined ? guide : withGuidance(guide, fact.guidance);
    case "compaction_finished":
      return fact.summary === undefined ? guide : broken(summarised(guide, fact.summary));
    case "prefix_broken":
      return broken(guide);
    case "reasoning_dropped":
      return broken({
        ...withDropped(guide, fact.scope ?? "", fact.through),
        ...(fact.reason === "refused" ? { refused: fact.through } : {}),
      });
    case "part_left_out": {
      const key = leftOutKey(fact.itemId, fact.partId);
      return { ...guide, leftOut: { ...guide.leftOut, [key]: fact.text } };
    }
    default:
      return guide;
  }
}

/**
 * What came before a summary is sent no more. Behind one of our own everything is new to the vendor. One that
 * the vendor has signed keeps the beginning of requests, but not the changes that it covers: those are made
 * again.
 */
function summarised(guide: Guide, { itemId, last }: Pick<Compaction, "itemId" | "last">): Guide {
  const { stages, written, signed } = guide;
  if (written?.itemId !== itemId) return startedAnew(withDropped(guide, "", guide.last));
  // The summary before it was another model's, so its own reasoning from before that one was sent no more.
  const isForeign = signed !== undefined && signed.model !== written.model;
  const known = isForeign ? withDropped(guide, "", signed.through) : guide;
  const kept = { ...known, signed: written, written: undefined };
  const [base] = stages;
  if (base === undefined || !hasChanged(guide)) return kept;
  return { ...kept, stages: [...stages, { ...baseOf(base), after: last }] };
}

/** Whether something has changed since the beginning of requests, other than notes. */
export function hasChanged({ stages }: Guide): boolean {
  const [base] = stages;
  return base !== undefined && stages.some((stage) => !isSame(stage, base));
}

/** Whether something changes behind one of these items, other than notes. */
export function changesBehind({ stages }: Guide, items: ReadonlySet<ItemId>): boolean {
  return stages.some(({ after, ...stage }, at) => {
    const before = stages[at - 1];
    return (
      after !== undefined && items.has(after) && before !== undefined && !isSame(stage, before)
    );
  });
}

type Content = Pick<Stage, "instructions" | "tools" | "output">;

function isSame(one: Content, other: Content): boolean {
  return (
    one.instructions === other.instructions &&
    equalJson(one.tools as unknown as Json, other.tools as unknown as Json) && // plain data
    equalJson(one.output, other.output)
  );
}

/** What the newest item is. A summary stands where the first item stood that it covers, so it is not. */
function withItem(guide: Guide, { item, turnId }: BodyOf<"item_committed">): Guide {
  if (item.author === "agent") {
    const model = signatureOf(item) === undefined ? undefined : item.model;
    if (model === undefined) return guide;
    return { ...guide, written: { itemId: item.id, model, through: guide.last } };
  }
  const { last, replied, continued } = guide;
  const isReply = item.author === "model" && turnId !== undefined;
  const isBehind = isReply && last !== undefined && replied !== undefined && replied !== turnId;
  return {
    ...guide,
    last: item.id,
    notesHold: guide.notesHold && item.author !== "user",
    replied: isReply && canEnd(item) ? turnId : undefined,
    continued: isBehind ? [...continued, last] : continued,
  };
}

/**
 * Whether a request that ends with this reply needs a turn of the user behind it. A turn that a vendor
 * paused may be sent as it is; its protocol decides.
 */
export function canEnd({ author, stop, parts }: Item): boolean {
  return author === "model" && stop !== "paused" && parts.some(({ kind }) => kind !== "reasoning");
}

export function leftOutKey(item: ItemId, part: string): string {
  return `${item} ${part}`;
}

/** What of the guidance is not as the newest stage has it. Undefined: nothing. */
export function guidanceChange(guide: Guide, now: Guidance): JsonObject | undefined {
  const before = guide.stages.at(-1);
  const tools = now.tools as unknown as Json; // plain data
  const sameWords = before !== undefined && before.instructions === now.instructions;
  const sameTools = before !== undefined && equalJson(before.tools as unknown as Json, tools);
  if (sameWords && sameTools) return undefined;
  return {
    ...(sameWords ? {} : { instructions: now.instructions ?? null }),
    ...(sameTools ? {} : { tools }),
  };
}

function withGuidance(guide: Guide, change: JsonObject): Guide {
  const next = withStage(guide, changed(guide, change));
  return change["anew"] === true ? startedAnew(next) : next;
}

function changed(guide: Guide, change: JsonObject): StageContent {
  const before = guide.stages.at(-1);
  const { instructions, tools, notes } = change as Partial<JsonObject>;
  return {
    ...(typeof notes === "string" ? { notes } : {}),
    instructions:
      instructions === undefined
        ? before?.instructions
        : typeof instructions === "string"
          ? instructions
          : undefined,
    tools: Array.isArray(tools) ? readTools(tools) : (before?.tools ?? []),
  };
}

/** Tools as they were stored. What has no name or no schema was not stored by this code. */
function readTools(tools: readonly Json[]): readonly ToolDescription[] {
  return tools.filter(
    (tool) => isJsonObject(tool) && typeof tool["name"] === "string" && tool["input"] !== undefined,
  ) as unknown as readonly ToolDescription[];
}

/**
 * Adds a stage at the end. One that no item follows yet is replaced. The first has no output: that is asked
 * for behind the items which ask for it.
 */
function withStage(guide: Guide, content: StageContent): Guide {
  const { stages, last, output } = guide;
  if (stages.length === 0) return begun({ ...guide, since: last }, content);
  const isHere = stages.length > 1 && stages.at(-1)?.after === last;
  const { instructions, tools, notes } = content;
  const stage: Stage = {
    instructions,
    tools,
    after: last,
    output,
    ...(notes === undefined ? {} : { notes }),
  };
  const kept = isHere ? stages.slice(0, -1) : stages;
  return { ...guide, stages: [...kept, stage], notesHold: notes !== undefined };
}

function withOutput(guide: Guide): Guide {
  const { stages, output } = guide;
  const newest = stages.at(-1);
  if (newest === undefined || equalJson(newest.output, output)) return guide;
  return withStage(guide, { instructions: newest.instructions, tools: newest.tools });
}

/** The newest stage becomes the beginning of the next request. Notes of an earlier input are over. */
function startedAnew(guide: Guide): Guide {
  const newest = guide.stages.at(-1);
  if (newest === undefined) return guide;
  return begun(guide, guide.notesHold ? newest : { ...newest, notes: undefined });
}

function begun(guide: Guide, content: StageContent): Guide {
  const next = { ...guide, stages: [baseOf(content)] };
  return content.notes === undefined ? withOutput(next) : withStage(next, content);
}

function broken(guide: Guide): Guide {
  return { ...guide, breaks: guide.breaks + 1 };
}

function baseOf({ instructions, tools }: Guidance): Stage {
  return { instructions, tools, after: undefined };
}

function withDropped(guide: Guide, scope: string, through: ItemId | undefined): Guide {
  if (through === undefined) return guide;
  return { ...guide, dropped: { ...guide.dropped, [scope]: through }, signed: undefined };
}

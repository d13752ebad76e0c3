import { continuation, partId, repairTranscript } from "@millrace/core/model";
import type { RequestUpdate } from "@millrace/core/model";
import type { ModelRequest } from "@millrace/core/ports";
import { CallNames } from "./call-names.ts";
import { givenOptions } from "./given-options.ts";
import { MovedMedia } from "./moved-media.ts";
import type {
  CustomPart,
  FilePart,
  Item,
  MediaPart,
  Part,
  PartId,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "@millrace/core";

/**
 * A transcript in a form that every vendor accepts; each protocol only converts the shapes. It
 * begins with the user, ends with the user or results (or with the model's own paused turn), and is
 * never empty. Each call is answered once, directly after its turn. Ids and names of calls are
 * unique and use characters that every vendor accepts. Data that only another vendor can read is
 * removed.
 */
export type Turn = UserTurn | ModelTurn | ToolTurn;

export interface UserTurn {
  readonly role: "user";
  readonly parts: readonly UserPart[];
}

/** What a user turn consists of, and what a tool may return beside its result. */
export type UserPart = TextPart | MediaPart | FilePart;

/** What the model wrote, with its calls. */
export interface ModelTurn {
  readonly role: "model";
  /** Written by this protocol and this model, so that its metadata and opaque data are valid. */
  readonly native: boolean;
  /** The last turn, which the vendor paused. It is sent unchanged and resumed. */
  readonly paused: boolean;
  /**
   * Reasoning and custom parts are included only in native turns, and reasoning only with its
   * opaque data.
   */
  readonly parts: readonly ModelPart[];
}

export type ModelPart = TextPart | ReasoningPart | ToolCallPart | MediaPart | FilePart | CustomPart;

/** The answers to all calls of the turn before, in the order of the calls. */
export interface ToolTurn {
  readonly role: "tool";
  readonly answers: readonly Answer[];
}

export interface Answer {
  readonly result: ToolResultPart;
  /** Media and files that the tool made. */
  readonly parts: readonly UserPart[];
}

/** What changes in the middle of a conversation, for vendors that have a form for it. */
export interface UpdateTurn {
  readonly role: "update";
  readonly update: RequestUpdate;
}

/** What a vendor can do that others can't. */
export interface Abilities {
  /** Whether the vendor can resume a turn that it paused. If not, a user turn asks for more. */
  readonly goesOn?: (parts: readonly ModelPart[]) => boolean;
  /** Whether media or a file of the model stays in its turn. If not, a user turn shows it. */
  readonly keeps?: (part: MediaPart | FilePart, turn: ModelTurn) => boolean;
}

const never = (): boolean => false;

/** What of a request is prepared. */
type Conversed = Pick<ModelRequest, "transcript" | "updates" | "summarise">;

/**
 * Prepares a conversation. `author` is `protocol/model` of the model that gets the request. Updates are
 * words in the turn of the user.
 */
export function prepare(
  request: Conversed,
  author: string,
  abilities: Abilities = {},
): readonly Turn[] {
  return prepared<Turn>(request, author, abilities, ({ text, notes }) => {
    const words = [text, notes].filter((each) => each !== undefined);
    return words.length === 0 ? undefined : userSays([fromOperator, ...words].join("\n\n"));
  });
}

/** As `prepare`, with updates in turns of their own. */
export function prepareWithUpdates(
  request: Conversed,
  author: string,
  abilities: Abilities = {},
): readonly (Turn | UpdateTurn)[] {
  return prepared<Turn | UpdateTurn>(request, author, abilities, (update) => ({
    role: "update",
    update,
  }));
}

const fromOperator = "[From the operator of this conversation, and not from the user:]";

function prepared<T extends Turn | UpdateTurn>(
  { transcript, updates = [], summarise }: Conversed,
  author: string,
  { goesOn = never, keeps = never }: Abilities,
  updateTurn: (update: RequestUpdate) => T | Turn | undefined,
): readonly (T | Turn)[] {
  const items = repairTranscript(transcript).items;
  const places = Map.groupBy(updates, ({ after }) => after);
  const names = new CallNames();
  const turns: (T | Turn)[] = [];
  const shown = new MovedMedia(keeps);
  const all = items.flatMap((item): readonly (T | Turn)[] => [
    ...turnsOf(item, author, names),
    ...(places.get(item.id) ?? []).flatMap((update) => updateTurn(update) ?? []),
  ]);
  for (const turn of all) {
    const last = turns.at(-1);
    if (turn.role === "tool" && last?.role === "tool") {
      turns[turns.length - 1] = { role: "tool", answers: [...last.answers, ...turn.answers] };
    } else if (turn.role === "tool" || turn.role === "update") turns.push(turn);
    else {
      const left = shown.take();
      // The later one was written behind a turn of the user, as below.
      const isBehind = turn.role === "model" && left.length === 0 && isCutShort(turns, goesOn);
      turns.push(...left, ...(isBehind ? [userSays(continuation)] : []));
      turns.push(turn.role === "model" ? shown.without(turn) : turn);
    }
  }
  if (turns[0]?.role !== "user") turns.unshift(userSays(continuation));
  const last = turns.at(-1);
  const left = shown.take();
  const isResumed =
    last?.role === "model" && last.paused && left.length === 0 && goesOn(last.parts);
  const isOpen = lastSpoken(turns)?.role === "model" && !isResumed && summarise === undefined;
  turns.push(...left);
  if (isOpen) turns.push(userSays(continuation));
  return turns.map((turn) =>
    turn.role === "model" && turn.paused && !(isResumed && turn === last)
      ? { ...turn, paused: false }
      : turn,
  );
}

/** The last turn that is no update: an update answers nothing, and stands behind the next input where there is one. */
function lastSpoken<T extends { readonly role: string }>(turns: readonly T[]): T | undefined {
  return turns.findLast(({ role }) => role !== "update");
}

/** True behind a turn that its vendor paused and can't resume: it can't, or an update stands in between. */
function isCutShort(
  turns: readonly (Turn | UpdateTurn)[],
  goesOn: NonNullable<Abilities["goesOn"]>,
): boolean {
  const spoken = lastSpoken(turns);
  if (spoken?.role !== "model" || !spoken.paused) return false;
  return spoken !== turns.at(-1) || !goesOn(spoken.parts);
}

function userSays(text: string): UserTurn {
  return { role: "user", parts: [textPart(partId("p1"), text)] };
}

function textPart(id: PartId, text: string): TextPart {
  return { kind: "text", id, text };
}

function turnsOf(item: Item, author: string, names: CallNames): readonly Turn[] {
  if (item.author === "user") {
    const parts = item.parts.flatMap(userParts);
    return parts.length === 0 ? [] : [{ role: "user", parts }];
  }
  if (item.author === "tool") return toolTurns(item, names);
  const native = item.model === author;
  const segments = segmentsOf(item);
  return segments.flatMap((segment, at): readonly Turn[] => {
    const parts = segment.parts.flatMap((part) =>
      // Without a model it is the application's, not data that only a vendor can read.
      part.kind === "custom" && item.model === undefined
        ? [textPart(part.id, JSON.stringify(part.value))]
        : modelParts(part, native, names),
    );
    const paused = native && item.stop === "paused" && at === segments.length - 1;
    const answers = segment.results.map((result) => ({ result: names.rename(result), parts: [] }));
    return [
      ...(parts.length === 0 ? [] : [{ role: "model", native, paused, parts } as const]),
      ...(answers.length === 0 ? [] : [{ role: "tool", answers } as const]),
    ];
  });
}

interface Segment {
  readonly parts: Part[];
  readonly results: ToolResultPart[];
}

/**
 * Splits an item that contains calls with their answers, as other frameworks write them, into
 * turns. Calls that are answered after the item are moved to its end, so that their answers follow
 * them.
 */
function segmentsOf(item: Item): readonly Segment[] {
  const results = new Map<string, ToolResultPart>();
  for (const part of item.parts) if (part.kind === "tool_result") results.set(part.callId, part);
  if (results.size === 0) return [{ parts: [...item.parts], results: [] }];
  let current: Segment = { parts: [], results: [] };
  const segments = [current];
  const next = (): Segment => {
    segments.push((current = { parts: [], results: [] }));
    return current;
  };
  const later: Part[] = [];
  let isAnswered = false;
  for (const part of item.parts) {
    const result = part.kind === "tool_call" ? results.get(part.callId) : undefined;
    if (part.kind === "tool_result") isAnswered = true;
    else if (part.kind === "tool_call" && result === undefined) later.push(part);
    else {
      (isAnswered ? next() : current).parts.push(part);
      isAnswered = false;
      if (result !== undefined) current.results.push(result);
    }
  }
  if (later.length > 0) (current.results.length > 0 ? next() : current).parts.push(...later);
  return segments;
}

/**
 * Converts a part of a user item, or one beside a result. A kind that no vendor knows becomes JSON.
 */
function userParts(part: Part): readonly UserPart[] {
  switch (part.kind) {
    case "text":
      return part.text.trim() === "" ? [] : [part];
    case "media":
    case "file":
      return [part];
    case "structured":
    case "custom":
      return [{ ...textPart(part.id, JSON.stringify(part.value)), ...marksOf(part) }];
    case "opaque":
      return [textPart(part.id, JSON.stringify(part.original))];
    case "reasoning":
      return part.text.trim() === "" ? [] : [{ ...textPart(part.id, part.text), ...marksOf(part) }];
    case "tool_call":
    case "tool_result":
      return []; // `repairTranscript` has moved them to a turn of their own
    default:
      part satisfies never;
      return [];
  }
}

/** The options of a part, for the text that takes its place. */
function marksOf(part: Part): Pick<TextPart, "metadata"> {
  const options = givenOptions(part);
  return options === undefined ? {} : { metadata: { options } };
}

/** The answers in a tool's item. Parts without a result to belong to are the user's. */
function toolTurns(item: Item, names: CallNames): readonly Turn[] {
  const answers: { result: ToolResultPart; parts: UserPart[] }[] = [];
  const alone: UserPart[] = [];
  for (const part of item.parts) {
    if (part.kind === "tool_result") answers.push({ result: names.rename(part), parts: [] });
    else (answers.at(-1)?.parts ?? alone).push(...userParts(part));
  }
  return [
    ...(answers.length === 0 ? [] : [{ role: "tool", answers } as const]),
    ...(alone.length === 0 ? [] : [{ role: "user", parts: alone } as const]),
  ];
}

function modelParts(part: Part, native: boolean, names: CallNames): readonly ModelPart[] {
  switch (part.kind) {
    case "text":
      // Some vendors sign an empty text.
      if (native && part.metadata !== undefined) return [part];
      return part.text.trim() === "" ? [] : [textPart(part.id, part.text)];
    case "reasoning":
      return native && part.opaque !== undefined ? [part] : [];
    case "tool_call":
      return [native ? names.name(part) : foreign(names.name(part))];
    case "custom":
      return native ? [part] : [];
    case "structured":
      return [textPart(part.id, JSON.stringify(part.value))];
    case "media":
    case "file":
      return [part];
    case "tool_result":
    case "opaque":
      return [];
    default:
      part satisfies never;
      return [];
  }
}

/** The call without data that only its own vendor can read. */
function foreign(call: ToolCallPart): ToolCallPart {
  const copy = { ...call };
  delete copy.opaque;
  delete copy.metadata;
  return copy;
}

/** The text of a result for a model: its text, else its output, else its status. */
export function resultText(result: ToolResultPart): string {
  if (result.text !== "") return result.text;
  if (result.output !== undefined) {
    return typeof result.output === "string" ? result.output : JSON.stringify(result.output);
  }
  return result.status === "ok" ? "(no output)" : `(${result.status})`;
}

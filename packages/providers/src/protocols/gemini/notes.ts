import { equalJson, isJsonObject } from "@millrace/core/json";
import { List } from "@millrace/core/model";
import type { Json, JsonObject } from "@millrace/core";
import { isSound } from "../read.ts";

/** What the vendor reports about a text: its sources and quotations. */
const kinds = ["groundingMetadata", "citationMetadata", "urlContextMetadata"] as const;
type NoteKind = (typeof kinds)[number];

/** Notes of the reply so far. Events repeat them, so only new ones are kept. */
export interface Notes {
  readonly kept: Readonly<Partial<Record<NoteKind, Note>>>;
  /** The logarithms of the tokens' probabilities, in the order of the events, and their mean. */
  readonly logprobs: List<JsonObject>;
  readonly avgLogprobs: number | undefined;
  /** The number of notes that can't be stored: too large, or not plain. */
  readonly dropped: number;
}

interface Note {
  readonly before: List<JsonObject>;
  readonly latest: JsonObject;
}

export const noNotes: Notes = {
  kept: {},
  logprobs: List.of<JsonObject>(),
  avgLogprobs: undefined,
  dropped: 0,
};

export function hasNote(candidate: JsonObject): boolean {
  return (
    kinds.some((kind) => candidate[kind] !== undefined) || candidate["logprobsResult"] !== undefined
  );
}

/** Merges the notes of one event. Cost is linear in that event. */
export function addNotes(notes: Notes, candidate: JsonObject): Notes {
  let { kept, logprobs, avgLogprobs, dropped } = notes;
  const tokens = candidate["logprobsResult"];
  if (isJsonObject(tokens) && isSound(tokens)) logprobs = logprobs.append(tokens);
  else if (tokens !== undefined) dropped += 1;
  const mean = candidate["avgLogprobs"];
  if (typeof mean === "number") avgLogprobs = mean;
  for (const kind of kinds) {
    const value = candidate[kind];
    if (!isJsonObject(value)) continue;
    const fresh = withoutEmpty(value);
    if (Object.keys(fresh).length === 0) continue;
    if (!isSound(fresh)) {
      dropped += 1;
      continue;
    }
    const note = kept[kind];
    const next =
      note === undefined ? { before: List.of<JsonObject>(), latest: fresh } : add(note, fresh);
    if (next !== note) kept = { ...kept, [kind]: next };
  }
  const next = { kept, logprobs, avgLogprobs, dropped };
  const same = (Object.keys(next) as (keyof Notes)[]).every((key) => next[key] === notes[key]);
  return same ? notes : next;
}

function add(note: Note, fresh: JsonObject): Note {
  const { before, latest } = note;
  if (!extendsNote(latest, fresh)) return { before: before.append(latest), latest: fresh };
  const joined = { ...latest, ...fresh };
  return equalJson(joined, latest) ? note : { before, latest: joined };
}

function withoutEmpty(value: JsonObject): JsonObject {
  const entries = Object.entries(value).filter(
    ([, field]) => field !== null && !(Array.isArray(field) && field.length === 0),
  );
  return Object.fromEntries(entries);
}

/** True if the newer note contains every row of the older one, in order. */
function extendsNote(older: JsonObject, newer: JsonObject): boolean {
  return Object.entries(older).every(([key, rows]) => {
    const others = newer[key];
    if (!Array.isArray(rows) || others === undefined) return true;
    return (
      Array.isArray(others) &&
      others.length >= rows.length &&
      rows.every((row: Json, at) => equalJson(row, others[at] as Json))
    );
  });
}

/** All notes, without duplicate rows. Tokens may repeat, so their rows stay. */
export function mergeNotes({ kept, logprobs, avgLogprobs }: Notes): JsonObject {
  const tokens: Record<string, Json[]> = {};
  for (const rows of logprobs) {
    for (const [key, value] of Object.entries(rows)) (tokens[key] ??= []).push(...listOf(value));
  }
  const entries = kinds.flatMap((kind) => {
    const note = kept[kind];
    if (note === undefined) return [];
    const all = [...note.before, note.latest];
    return [[kind, kind === "groundingMetadata" ? mergeGrounding(all) : mergeFields(all)] as const];
  });
  return {
    ...Object.fromEntries(entries),
    ...(logprobs.length === 0 ? {} : { logprobsResult: tokens }),
    ...(avgLogprobs === undefined ? {} : { avgLogprobs }),
  };
}

/** A list without duplicates. */
class Rows {
  readonly #places = new Map<string, number>();
  readonly #rows: Json[] = [];

  add(row: Json): number {
    const key = JSON.stringify(row);
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    this.#places.set(key, this.#rows.length);
    return this.#rows.push(row) - 1;
  }

  toArray(): readonly Json[] {
    return this.#rows;
  }
}

function mergeFields(all: readonly JsonObject[]): JsonObject {
  const lists = new Map<string, Rows>();
  const merged: Record<string, Json> = {};
  for (const note of all) {
    for (const [key, value] of Object.entries(note)) {
      if (!Array.isArray(value)) {
        merged[key] = value;
        continue;
      }
      const rows = lists.get(key) ?? new Rows();
      lists.set(key, rows);
      for (const row of value as readonly Json[]) rows.add(row);
    }
  }
  for (const [key, rows] of lists) merged[key] = rows.toArray();
  return merged;
}

/** As `mergeFields`, but supports refer to sources by index, so the indexes are mapped. */
function mergeGrounding(all: readonly JsonObject[]): JsonObject {
  const sources = new Rows();
  const supports = new Rows();
  for (const { groundingChunks, groundingSupports } of all as readonly {
    readonly groundingChunks?: Json;
    readonly groundingSupports?: Json;
  }[]) {
    const numbers = listOf(groundingChunks).map((source) => sources.add(source));
    for (const support of listOf(groundingSupports)) supports.add(renumbered(support, numbers));
  }
  const rest = mergeFields(all);
  return {
    ...rest,
    ...("groundingChunks" in rest ? { groundingChunks: sources.toArray() } : {}),
    ...("groundingSupports" in rest ? { groundingSupports: supports.toArray() } : {}),
  };
}

function renumbered(support: Json, numbers: readonly number[]): Json {
  if (!isJsonObject(support)) return support;
  const indices = support["groundingChunkIndices"];
  if (!Array.isArray(indices)) return support;
  const groundingChunkIndices = (indices as readonly Json[]).map((index) =>
    typeof index === "number" ? (numbers[index] ?? index) : index,
  );
  return { ...support, groundingChunkIndices };
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import { listOf, soundOf, textOf } from "./events.ts";

/**
 * `reasoning_details`, which arrive in pieces (OpenRouter). Pieces of one text or summary are
 * joined; encrypted ones stay separate. The vendor requires the list back in order.
 */
export interface Details {
  /** The earlier details, so that adding one copies nothing. */
  readonly before: Details | undefined;
  readonly head: JsonObject;
  /** The text or summary of `head`, stored separately because it grows. */
  readonly text: string;
}

export function addDetails(
  details: Details | undefined,
  pieces: readonly Json[],
): Details | undefined {
  let current = details;
  for (const piece of pieces) if (isJsonObject(piece)) current = addDetail(current, piece);
  return current;
}

function addDetail(last: Details | undefined, piece: JsonObject): Details {
  const key = textKey(piece);
  const text = key === undefined ? "" : textOf(piece[key]);
  if (last === undefined || key === undefined || !continues(last, piece, text)) {
    return { before: last, head: piece, text };
  }
  const head = merged(last.head, piece);
  return { before: last.before, head, text: last.text + text };
}

/** The field that grows. Undefined for an encrypted or unknown detail. */
function textKey(piece: JsonObject): "text" | "summary" | undefined {
  if (piece["type"] === "reasoning.text") return "text";
  return piece["type"] === "reasoning.summary" ? "summary" : undefined;
}

function continues({ head }: Details, piece: JsonObject, text: string): boolean {
  if (head["type"] !== piece["type"]) return false;
  // A signature ends the text that it signs.
  if (text !== "" && typeof head["signature"] === "string") return false;
  return ["index", "id"].every((key) => {
    const [left, right] = [head[key] ?? null, piece[key] ?? null];
    return left === null || right === null || left === right;
  });
}

function merged(head: JsonObject, piece: JsonObject): JsonObject {
  let result = head;
  for (const key of ["id", "index", "format", "signature"]) {
    const value = piece[key] ?? null;
    if (value !== null && (head[key] ?? null) === null) result = { ...result, [key]: value };
  }
  return result;
}

/** The list to send back, oldest first. */
export function listDetails(details: Details | undefined): readonly JsonObject[] {
  const list: JsonObject[] = [];
  for (let node = details; node !== undefined; node = node.before) {
    const key = textKey(node.head);
    const full = key === undefined ? node.head : withText(node, key);
    const sound = soundOf(full);
    if (sound !== undefined) list.push(sound);
  }
  return list.toReversed();
}

function withText({ head, text }: Details, key: "text" | "summary"): JsonObject {
  return text === "" && head[key] === undefined ? head : { ...head, [key]: text.toWellFormed() };
}

/** The readable text of details, for servers that send it in no other field. */
export function visibleText(pieces: readonly Json[]): string {
  return pieces
    .map((piece) => {
      const key = isJsonObject(piece) ? textKey(piece) : undefined;
      return key === undefined || !isJsonObject(piece) ? "" : textOf(piece[key]);
    })
    .join("");
}

/** Joins the lists of several parts, because a text and its signature may have been split. */
export function joinDetails(lists: readonly (Json | undefined)[]): readonly JsonObject[] {
  let details: Details | undefined;
  for (const list of lists) details = addDetails(details, listOf(list));
  return listDetails(details);
}

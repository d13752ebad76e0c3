import type { Cause, Json, JsonObject } from "@millrace/core";
import type { Ending, WholeStop } from "@millrace/core/writing";
import type { Halt, StreamEnd } from "../../protocol.ts";
import { cutEnding } from "../../reply.ts";
import { failure, vendorFailure } from "../../failure.ts";
import { closeAudio, closeTranscript } from "./audio.ts";
import type { CallStage } from "./call.ts";
import { filledAt, objectAt, textAt } from "../read.ts";
import { keepable, objectsField, present, typeOf } from "./events.ts";
import { beginItem, finishItem, sameKind } from "./items.ts";
import { extendMessage } from "./message.ts";
import type { Edit, HostedItem, ItemKey, ResponsesState, VendorItem } from "./state.ts";
import { readUsage } from "./usage.ts";

/** Records the facts of a response object. */
export function noteResponse(edit: Edit, data: JsonObject): JsonObject | undefined {
  const response = objectAt(data, "response");
  if (response === undefined) return undefined;
  const facts = present({
    id: filledAt(response, "id"),
    model: filledAt(response, "model"),
    service_tier: filledAt(response, "service_tier"),
  });
  const usage = readUsage(response) ?? edit.book.usage;
  edit.book = { ...edit.book, facts: { ...edit.book.facts, ...facts }, usage };
  return response;
}

/** A second response in one stream would be a second reply: a gateway began again elsewhere. */
export function beginResponse(edit: Edit, data: JsonObject): void {
  const [known, found] = [edit.book.facts["id"], filledAt(objectAt(data, "response"), "id")];
  if (edit.book.items.size > 0 && known !== undefined && found !== undefined && known !== found) {
    edit.fail("contradiction", "a second response began in one reply");
  } else noteResponse(edit, data);
}

/** Reads `response.completed`, `.incomplete` and `.failed`. Nothing follows them. */
export function endResponse(edit: Edit, data: JsonObject): void {
  const response = noteResponse(edit, data) ?? {};
  edit.sign = "over";
  const event = typeOf(data).split(".").at(-1) ?? "";
  // Some servers send the event "completed" with the status "incomplete".
  const reported = filledAt(response, "status") ?? event;
  const status = reported === "in_progress" || reported === "queued" ? event : reported;
  if (event === "failed" || status === "failed" || status === "cancelled") {
    edit.failure = failureOf(objectAt(response, "error") ?? { message: `${status} response` });
    return;
  }
  if (event === "incomplete" || status === "incomplete") {
    const reason = objectAt(response, "incomplete_details")?.["reason"] ?? null;
    finishAll(edit, response, "incomplete");
    endIncomplete(edit, reason);
    return;
  }
  finishAll(edit, response, "completed");
  const refused = edit.book.facts["refusal"] === true;
  prove(edit, edit.book.calls > 0 ? "tools" : refused ? "filtered" : "end", { status });
}

const stopOf: ReadonlyMap<Json, WholeStop> = new Map<Json, WholeStop>([
  ["max_output_tokens", "length"],
  ["max_messages", "length"],
  ["content_filter", "filtered"],
  // A new input interrupted the response; the conversation continues from here.
  ["steered", "paused"],
]);

function endIncomplete(edit: Edit, reason: Json): void {
  const stop = stopOf.get(reason);
  if (stop === undefined) {
    const message = "the response is incomplete for a reason that nobody knows";
    edit.failure ??= failure("unknown_stop", message, { ...edit.book.facts, reason });
    return;
  }
  const calls = stop === "paused" && edit.book.calls > 0;
  prove(edit, calls ? "tools" : stop, { status: "incomplete", reason });
}

function prove(edit: Edit, stop: WholeStop, reported: JsonObject): void {
  const { facts, parts, items } = edit.book;
  const awaiting = [...items.values()].flatMap((item) =>
    item.kind === "hosted" && awaits(item, items) ? [item.type] : [],
  );
  const flags = {
    ...(parts === 0 ? { empty: true } : {}),
    ...(awaiting.length > 0 ? { awaiting } : {}),
  };
  const ending: Ending = { stop, evidence: keepable({ ...reported, ...facts, ...flags }) };
  edit.book = { ...edit.book, ending };
}

/**
 * True if the vendor waits for an action that the loop can't perform, such as a click on its
 * computer.
 */
function awaits(item: HostedItem, items: ReadonlyMap<ItemKey, VendorItem>): boolean {
  if (item.type === "mcp_approval_request") return true;
  const callId = item.value["call_id"];
  if (typeof callId !== "string" || item.type.endsWith("_output")) return false;
  return ![...items.values()].some(
    (other) =>
      other.kind === "hosted" &&
      other.type.endsWith("_output") &&
      other.value["call_id"] === callId,
  );
}

/** Closes all open items, by the response's own list of items as far as it has one. */
function finishAll(edit: Edit, response: JsonObject, stage: CallStage): void {
  const [finals, unseen] = match(edit, objectsField(response, "output"));
  for (const key of edit.book.items.keys()) {
    const final = finals.get(key);
    if (edit.book.items.get(key)?.closed === false) finishItem(edit, key, final, stage);
    else if (final !== undefined) extendMessage(edit, key, final);
  }
  // In order, so that the parts have the order of the output.
  for (const [number, item] of unseen.entries()) {
    if (edit.failure !== undefined) break;
    const key = `output ${number}`;
    beginItem(edit, key, item);
    finishItem(edit, key, item, stage);
  }
  closeAudio(edit);
  closeTranscript(edit);
}

/**
 * Maps each final item to a known one: by its id, else by its position among those of its kind,
 * because some gateways change ids and omit items. The others are new.
 */
function match(
  edit: Edit,
  output: readonly JsonObject[],
): [finals: ReadonlyMap<ItemKey, JsonObject>, unseen: readonly JsonObject[]] {
  const finals = new Map<ItemKey, JsonObject>();
  const rest: JsonObject[] = [];
  const unseen: JsonObject[] = [];
  for (const item of output) {
    const key = edit.book.keys.get(filledAt(item, "id") ?? "");
    const known = key === undefined ? undefined : edit.book.items.get(key);
    if (key !== undefined && known !== undefined && sameKind(known, item) && !finals.has(key))
      finals.set(key, item);
    else rest.push(item);
  }
  const free = [...edit.book.items].filter(([key]) => !finals.has(key));
  for (const item of rest) {
    const at = free.findIndex(([, known]) => sameKind(known, item));
    const [found] = at < 0 ? [] : free.splice(at, 1);
    if (found === undefined) unseen.push(item);
    else finals.set(found[0], item);
  }
  return [finals, unseen];
}

/** Reads the `error` event, flat or nested, and errors without a type. */
export function reportError(edit: Edit, data: JsonObject): void {
  const message = textAt(data, "error");
  const error = objectAt(data, "error") ?? (message === undefined ? data : { message });
  edit.failure = failureOf(error, data["status"]);
}

function failureOf(error: JsonObject, status?: Json): Cause {
  const message = textAt(error, "message") ?? "the vendor reported an error";
  const type = error["type"] === "error" ? undefined : error["type"];
  return vendorFailure([error["code"], type, status], message.toWellFormed(), keepable(error));
}

export function halt({ book }: ResponsesState, end: StreamEnd): Halt {
  const { ending, facts, usage, namelessCalls } = book;
  const proved = end.kind === "failed" ? undefined : ending;
  return {
    operations: [],
    ending: proved ?? cutEnding(end, keepable(facts)),
    namelessCalls,
    ...(usage === undefined ? {} : { usage }),
  };
}

import { checkJson, isJsonObject } from "@millrace/core/json";
import type { Cause, Json, JsonObject } from "@millrace/core";
import type { VendorEvent } from "../../framing/framing.ts";
import { vendorFailure } from "../../failure.ts";

const nothing: readonly Json[] = [];

export function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : nothing;
}

export function objectOf(value: Json | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

export function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** The value if a part or an ending may contain it: plain, well-formed and not too large. */
export function soundOf<Value extends Json>(value: Value | undefined): Value | undefined {
  return value === undefined || checkJson(value) !== undefined ? undefined : value;
}

/** Choice 0 of a chunk. Others exist only if a setting asks for them, and are ignored. */
export function firstChoice(data: JsonObject): JsonObject | undefined {
  for (const choice of listOf(data["choices"])) {
    if (isJsonObject(choice) && (choice["index"] ?? 0) === 0) return choice;
  }
  return undefined;
}

/** The delta of a chunk. A whole reply in one event has a `message` instead. */
export function deltaOf(choice: JsonObject, isFirst: boolean): JsonObject | undefined {
  return objectOf(choice["delta"]) ?? (isFirst ? objectOf(choice["message"]) : undefined);
}

/** The usage of a chunk, of its choice (Moonshot), or of an extension (Groq). */
export function usageIn(data: JsonObject, choice: JsonObject | undefined): JsonObject | undefined {
  return (
    countsIn(data["usage"]) ??
    countsIn(choice?.["usage"]) ??
    countsIn(objectOf(data["x_groq"])?.["usage"])
  );
}

/** Ignores usage without counts, which some servers put on every chunk. */
function countsIn(usage: Json | undefined): JsonObject | undefined {
  const counts = objectOf(usage);
  return counts !== undefined && "prompt_tokens" in counts ? counts : undefined;
}

/** The error of an event, in any of the fields where servers put one. */
export function errorIn(
  { name, data }: VendorEvent,
  choice: JsonObject | undefined,
): Cause | undefined {
  const error = data?.["error"] ?? choice?.["error"];
  if (isJsonObject(error)) return causeOf(error);
  if (typeof error === "string" && error !== "") return causeOf({ message: error });
  if (data === undefined) return undefined;
  if (name === "error" || data["object"] === "error") return causeOf(data);
  return choice === undefined ? statusIn(data) : undefined;
}

/** MiniMax reports an error as a status without choices. */
function statusIn(data: JsonObject): Cause | undefined {
  const { status_code: code, status_msg: message } = (objectOf(data["base_resp"]) ?? {}) as Partial<
    Record<string, Json>
  >;
  return typeof code === "number" && code !== 0
    ? causeOf({ status_code: code, message: textOf(message) })
    : undefined;
}

function causeOf(error: JsonObject): Cause {
  const { code, type, status, message, metadata } = error as Partial<Record<string, Json>>;
  const text = textOf(message).slice(0, 2_000).toWellFormed();
  return vendorFailure(
    [code, type, status, objectOf(metadata)?.["error_type"]],
    text === "" ? "the vendor reported an error in the stream" : text,
    soundOf(error) ?? {},
  );
}

/** Short facts of a chunk for the evidence, such as the model and the provider that served it. */
export function factsOf(data: JsonObject, choice?: JsonObject): JsonObject {
  const facts: Record<string, Json> = {};
  for (const name of ["id", "model", "provider", "service_tier", "system_fingerprint"]) {
    note(facts, name, data[name]);
  }
  note(facts, "native_finish_reason", choice?.["native_finish_reason"]);
  return facts;
}

function note(facts: Record<string, Json>, name: string, value: Json | undefined): void {
  const short = typeof value === "string" && value !== "" && value.length <= 200;
  if (short && value.isWellFormed()) facts[name] = value;
}

/** One entry of `tool_calls`, or a legacy `function_call`. */
export interface CallEntry {
  /** Undefined if the server sends none. */
  readonly index: number | undefined;
  /** The position in its list, and the length of the list. */
  readonly position: number;
  readonly siblings: number;
  readonly id: string;
  readonly name: string;
  /** Argument text, or the input of a custom tool. */
  readonly text: string;
  readonly custom: boolean;
  /** True if arguments sent as a value contain a number that was rounded. */
  readonly inexact: boolean;
  /** Fields that go back with the call. */
  readonly extra: JsonObject | undefined;
}

/** The index of legacy calls, which have none. Vendors must not send it. */
const legacyIndex = -1;

/**
 * Reads an entry. Returns an error message for an invalid one, and undefined for a value that is no
 * entry.
 */
export function readEntry(
  entry: Json,
  position: number,
  siblings: number,
): CallEntry | string | undefined {
  if (!isJsonObject(entry)) return undefined;
  const index = entry["index"] ?? undefined;
  if (index !== undefined && !(typeof index === "number" && Number.isSafeInteger(index))) {
    return "a tool call's index is no whole number";
  }
  if (index !== undefined && index < 0) return "a tool call's index is negative";
  const customBody = objectOf(entry["custom"]);
  const body = customBody ?? objectOf(entry["function"]);
  const value = customBody === undefined ? body?.["arguments"] : customBody["input"];
  const whole = value !== undefined && value !== null && typeof value !== "string";
  return {
    index,
    position,
    siblings,
    id: textOf(entry["id"]),
    name: textOf(body?.["name"]),
    text: whole ? JSON.stringify(value) : (value ?? ""),
    custom: customBody !== undefined || entry["type"] === "custom",
    inexact: whole && hasInexact(value),
    extra: extraOf(entry),
  };
}

/** Fields beside the function of a call that go back with it. Gateways put a signature into each of them. */
export const callFields = ["extra_content", "thoughtSignature", "thought_signature"] as const;

function extraOf(entry: JsonObject): JsonObject | undefined {
  const content = entry["extra_content"];
  const [camel, snake] = [entry["thoughtSignature"], entry["thought_signature"]];
  // Nearly no entry has one of them.
  if (content === undefined && camel === undefined && snake === undefined) return undefined;
  const extra: JsonObject = {
    ...(isJsonObject(content) ? { extra_content: content } : {}),
    ...(typeof camel === "string" ? { thoughtSignature: camel } : {}),
    ...(typeof snake === "string" ? { thought_signature: snake } : {}),
  };
  return Object.keys(extra).length === 0 ? undefined : extra;
}

/** Reads a legacy `function_call` as an entry. */
export function readLegacy(call: JsonObject): CallEntry | undefined {
  const entry = readEntry({ function: call }, 0, 1);
  return typeof entry === "object" ? { ...entry, index: legacyIndex } : undefined;
}

/**
 * True if a number was rounded. Arguments sent as a value were parsed before they reach the
 * decoder.
 */
function hasInexact(value: Json): boolean {
  if (typeof value === "number") {
    return !Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER;
  }
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((child: Json) => hasInexact(child));
}

/** A piece of array `content`: Mistral sends its thinking among the text. */
export interface ContentPiece {
  readonly channel: "text" | "reasoning" | "refusal";
  readonly text: string;
}

export function contentPieces(content: readonly Json[]): readonly ContentPiece[] {
  return content.flatMap((piece): readonly ContentPiece[] => {
    if (typeof piece === "string") return [{ channel: "text", text: piece }];
    if (!isJsonObject(piece)) return [];
    switch (piece["type"]) {
      case "thinking":
        return [{ channel: "reasoning", text: thinkingText(piece["thinking"]) }];
      case "refusal":
        return [{ channel: "refusal", text: textOf(piece["refusal"]) }];
      default:
        return [{ channel: "text", text: textOf(piece["text"]) }];
    }
  });
}

function thinkingText(thinking: Json | undefined): string {
  if (typeof thinking === "string") return thinking;
  return listOf(thinking)
    .map((piece) => textOf(objectOf(piece)?.["text"]))
    .join("");
}

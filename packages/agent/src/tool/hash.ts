import { MillraceError } from "@millrace/core";
import type { CallId, ItemId, Json, JsonObject, RunId, SessionUid } from "@millrace/core";

/** What a tool gets, beside what the model sent. */
export type ParsedForm =
  /** The schema did not change the input. */
  | "same"
  /** It made something that no JSON shows whole. */
  | "unshown"
  | { readonly parsed: Json };

/** All that an approval is about. Whatever of it changes, the approval is void. */
export interface ApprovalSubject {
  readonly uid: SessionUid;
  readonly runId: RunId;
  readonly callId: CallId;
  /** The reserved id of the call's answer, which no other call has. */
  readonly itemId: ItemId;
  readonly tool: string;
  /** Description and schema are what the person and the model were shown of the tool. */
  readonly description: string | undefined;
  readonly inputSchema: Json;
  readonly input: JsonObject;
  /** What the tool gets. Left out: the input itself. */
  readonly parsed?: ParsedForm | undefined;
}

/**
 * What an approval is bound to, as 64 hexadecimal digits: SHA-256 over the canonical JSON of named
 * fields. Nothing is put together by concatenation, so no two subjects share a text.
 */
export async function approvalHash(subject: ApprovalSubject): Promise<string> {
  const {
    uid,
    runId,
    callId,
    itemId,
    tool,
    description,
    inputSchema,
    input,
    parsed = "same",
  } = subject;
  const text = canonicalJson([
    ["uid", uid],
    ["runId", runId],
    ["callId", callId],
    ["itemId", itemId],
    ["tool", tool],
    // Null is no description; it can't be mistaken for one, since a description is text.
    ["description", description ?? null],
    ["inputSchema", inputSchema],
    ["input", input],
    ...(parsed === "same" ? [] : [["parsed", typeof parsed === "string" ? [] : [parsed.parsed]]]),
  ]);
  return await sha256(text);
}

/** The SHA-256 of a text, as 64 hexadecimal digits. */
export async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * The one text of a JSON value, as RFC 8785 has it: keys sorted by their UTF-16 units, no white
 * space, numbers as the language writes them. Two values are equal exactly if their texts are. A key
 * whose value is undefined counts as absent; all else that is not JSON throws, because its text could
 * equal that of a JSON value.
 */
export function canonicalJson(value: Json): string {
  if (typeof value === "string" || typeof value === "boolean" || value === null) {
    return JSON.stringify(value);
  }
  if (typeof value === "number" && Number.isFinite(value)) return JSON.stringify(value);
  // By its type the rest is an array or an object, but a schema's JSON comes from foreign code.
  const rest: unknown = value;
  if (Array.isArray(rest)) return `[${Array.from(rest, canonicalJson).join(",")}]`;
  if (!isPlain(rest)) {
    throw new MillraceError("invalid_definition", `not JSON: ${typeof rest}`);
  }
  const fields = Object.keys(rest)
    .filter((key) => rest[key] !== undefined)
    .toSorted() // by UTF-16 units, where nothing else is asked for
    // What is not JSON after all is found one level down.
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(rest[key] as Json)}`);
  return `{${fields.join(",")}}`;
}

/** An object without a class, from whatever realm: nothing stands above its prototype. */
export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

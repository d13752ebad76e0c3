import { createHash } from "node:crypto";
import type { Json, JsonObject } from "@millrace/core";
import type { Metadata } from "../http/types.ts";
import type { Identity } from "../http/identity.ts";

/** The field of a session's metadata that names the request by which it was made. Clients do not see it. */
const field = "millrace:created";

/** By which request a session was made: hashes of its key and of what it asked for. */
export interface CreatedBy {
  readonly key: string;
  readonly body: string;
}

/** The key's scope is tenant and user. */
export function createdBy({ tenant, user }: Identity, key: string, body: Json): CreatedBy {
  return { key: hashOf([tenant, user, key]), body: hashOf(sorted(body)) };
}

/** The name of a session that is made without one: the same for each repeat, and not to be guessed. */
export function generatedId({ key }: CreatedBy): string {
  return `s_${key}`;
}

/** Metadata with the mark of the request. */
export function marked(metadata: Metadata | undefined, { key, body }: CreatedBy): Metadata {
  return { ...metadata, [field]: `${key}.${body}` };
}

/** Whether a session was made by this request: `other` is another request with its key. */
export function madeBy(metadata: Metadata, { key, body }: CreatedBy): "same" | "other" | undefined {
  const mark = metadata[field];
  if (mark === `${key}.${body}`) return "same";
  return typeof mark === "string" && mark.startsWith(`${key}.`) ? "other" : undefined;
}

/** Metadata as clients see it. */
export function withoutMark(metadata: Metadata): Metadata {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => name !== field));
}

/** Metadata of a client in the place of what was there. The mark stays, and can't be forged. */
export function withMarkOf(before: Metadata, metadata: Metadata): Metadata {
  const mark = before[field];
  return { ...withoutMark(metadata), ...(mark === undefined ? {} : { [field]: mark }) };
}

function hashOf(value: Json): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 32);
}

/** The same for objects that differ in the order of their fields. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map((each: Json) => sorted(each));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value as JsonObject).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, sorted(each)]));
}

import { createHmac } from "node:crypto";
import { isJsonObject, parseJsonText } from "@millrace/core/json";
import type { JsonObject } from "@millrace/core";

/** Data that only the vendor can have written, and the name by which other data refers to it. */
export interface Signed {
  readonly id: string;
  readonly data: JsonObject;
}

const macLength = 32;

/** Encodes data behind its signature, in base64. */
export function signText(data: JsonObject, secret: string): string {
  const body = Buffer.from(JSON.stringify(data));
  return Buffer.concat([macOf(body, secret), body]).toString("base64");
}

/** Reads what `signText` made. Undefined for anything that was changed or made with another secret. */
export function readSigned(text: string, secret: string): Signed | undefined {
  const bytes = Buffer.from(text, "base64");
  const [mac, body] = [bytes.subarray(0, macLength), bytes.subarray(macLength)];
  // A decoder skips characters that are not base64, so that a changed text could give the same bytes.
  if (bytes.toString("base64") !== text || !macOf(body, secret).equals(mac)) return undefined;
  const data: unknown = parseJsonText(body.toString());
  return isJsonObject(data) ? { id: mac.toString("base64url").slice(0, 22), data } : undefined;
}

function macOf(body: Uint8Array, secret: string): Buffer {
  return createHmac("sha256", secret).update(body).digest();
}

import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import { isJsonObject, parseJsonText } from "@millrace/core/json";
import type { JsonObject } from "@millrace/core";

const ivLength = 12;
const tagLength = 16;

/** Encrypts data for one organisation. The same data gives the same text, so that tests repeat. */
export function seal(data: JsonObject, organisation: string): string {
  const plain = JSON.stringify(data);
  const iv = createHash("sha256").update(plain).digest().subarray(0, ivLength);
  const cipher = createCipheriv("aes-256-gcm", keyOf(organisation), iv);
  const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString("base64");
}

/** Decrypts what `seal` made. Undefined for anything damaged, or sealed for another organisation. */
export function unseal(text: string, organisation: string): JsonObject | undefined {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length <= ivLength + tagLength || bytes.toString("base64") !== text) return undefined;
  const decipher = createDecipheriv(
    "aes-256-gcm",
    keyOf(organisation),
    bytes.subarray(0, ivLength),
  );
  decipher.setAuthTag(bytes.subarray(ivLength, ivLength + tagLength));
  try {
    const plain = decipher.update(bytes.subarray(ivLength + tagLength));
    const data: unknown = parseJsonText(Buffer.concat([plain, decipher.final()]).toString());
    return isJsonObject(data) ? data : undefined;
  } catch {
    // The tag does not match the bytes.
    return undefined;
  }
}

function keyOf(organisation: string): Buffer {
  return createHash("sha256").update(organisation).digest();
}

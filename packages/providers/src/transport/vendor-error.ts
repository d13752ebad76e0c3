import { isJsonObject, parseJsonText } from "@millrace/core/wire";
import type { Cause, Json, JsonObject } from "@millrace/core";
import { codeOfError, failure } from "../failure.ts";
import { excerpt } from "./redact.ts";

/** The cause for a status other than 2xx, with the error of the body. */
export function statusFailure(
  status: number,
  body: string,
  more: Readonly<Record<string, Json | undefined>>,
): Cause {
  const known = Object.fromEntries(
    Object.entries(more).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  );
  const evidence = { status, body: excerpt(body), ...known };
  const error = errorIn(body);
  if (status >= 300 && status < 400) {
    return failure(
      "redirect_refused",
      `the vendor answered ${status}: set baseUrl to the new address`,
      evidence,
    );
  }
  if (error === undefined)
    return failure(codeOfError([status], body), `the vendor answered ${status}`, evidence);
  const message = `the vendor answered ${status}: ${excerpt(error.message, 300)}`;
  // A code is more specific than a status, and a status more than a type such as
  // `invalid_request_error`.
  return failure(codeOfError([error.code, status], error.message), message, evidence);
}

interface VendorError {
  readonly code: Json | undefined;
  readonly message: string;
}

/** Reads `{"error":{…}}`, `{"error":"…"}`, `{"message":"…"}` and an array with one of these. */
export function errorIn(text: string): VendorError | undefined {
  let value: unknown;
  try {
    value = parseJsonText(text);
  } catch {
    return undefined;
  }
  const outer: unknown = Array.isArray(value) ? value[0] : value;
  if (!isJsonObject(outer)) return undefined;
  const { error } = outer as { readonly error?: Json };
  if (typeof error === "string") return { code: outer["code"], message: error };
  const inner: JsonObject = isJsonObject(error) ? error : outer;
  const message = inner["message"] ?? inner["detail"];
  if (typeof message !== "string") return undefined;
  const code = [inner["code"], inner["status"], inner["type"]].find(
    (found) => typeof found === "string" && found !== "invalid_request_error",
  );
  return { code: code ?? inner["code"], message };
}

/**
 * Reads `retry-after-ms` and `retry-after`: milliseconds, seconds, or a date. Other values give
 * undefined.
 */
export function retryAfter(
  header: (name: string) => string | undefined,
  now: number,
): number | undefined {
  const exact = Number(header("retry-after-ms") ?? Number.NaN);
  if (exact >= 0 && Number.isFinite(exact)) return exact;
  const value = header("retry-after")?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1_000;
  const date = /^[A-Za-z]{3},/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/**
 * True if a body of this type can be read as a stream. Some servers send no type, or plain text.
 */
export function isStream(contentType: string | undefined, mediaType: string): boolean {
  const type = contentType?.split(";")[0]?.trim().toLowerCase() ?? "";
  return ["", mediaType, "text/plain", "application/octet-stream"].includes(type);
}

/**
 * The failure of a body with status 200 and no reply. Undefined for an empty body, which only ended
 * too early.
 */
export function bodyFailure(
  body: string,
  contentType: string | undefined,
  isReadable: boolean,
): Cause | undefined {
  const evidence = { contentType: contentType ?? "", body: excerpt(body) };
  const error = errorIn(body);
  if (error !== undefined) {
    const code = codeOfError([error.code], error.message);
    return failure(code, excerpt(error.message, 300), evidence);
  }
  if (body.includes("\0")) return failure("bad_encoding", "the answer is not UTF-8", evidence);
  const isJson = /^\s*[[{]/.test(body);
  if (isReadable && !isJson && !/^\s*</.test(body)) return undefined;
  return isJson
    ? failure(
        "not_a_stream",
        "the vendor answered in one piece, though a stream was asked for",
        evidence,
      )
    : failure("unexpected_content_type", "the answer is no stream; is baseUrl right?", evidence);
}

import { isJsonObject, parseJsonText } from "@millrace/core/json";
import type { Cause, Json, JsonObject } from "@millrace/core";
import { codeOfAnswer, codeOfError, failure } from "../failure.ts";
import { delayInError, delayInHeaders, delayToReset, detailNames } from "../vendor-delay.ts";
import type { HeaderReader } from "../vendor-delay.ts";
import { awsAdvice, awsNameOf } from "./aws-error.ts";
import { excerpt } from "./redact.ts";
import { requestIdOf } from "./response-headers.ts";

/** What an answer has beside its status and body. */
export interface AnswerHead {
  readonly header?: HeaderReader | undefined;
  /** This host's clock, for delays that are given as a date. */
  readonly now?: number | undefined;
}

/** The cause for a status other than 2xx, with the error of the body and the delay that it asks for. */
export function statusFailure(status: number, body: string, head: AnswerHead): Cause {
  const { header = () => undefined, now = 0 } = head;
  if (status >= 300 && status < 400) {
    const message = `the vendor answered ${status}: set baseUrl to the new address`;
    return failure("redirect_refused", message, evidenceOf(status, body, undefined, header));
  }
  const error = errorIn(body);
  const awsName = awsNameOf(header("x-amzn-errortype"));
  const found = codeOfAnswer(status, [awsName, ...(error?.names ?? [])], error?.message ?? body);
  const asked = delayInHeaders(header, now);
  // The vendor waits for requests under way to be settled. Without a delay, 402 is a spent balance.
  const code = status === 402 && asked !== undefined ? "rate_limited" : found;
  const wait =
    asked ??
    (error === undefined ? undefined : delayInError(error.object, error.message)) ??
    (code === "rate_limited" ? delayToReset(header, now) : undefined);
  const text =
    error === undefined ? "" : `: ${excerpt(error.message, 300)}${awsAdvice(error.message)}`;
  const cause = failure(
    code,
    `the vendor answered ${status}${text}`,
    evidenceOf(status, body, wait, header),
  );
  const verdict = header("x-should-retry")?.trim().toLowerCase();
  return verdict === "true" || verdict === "false"
    ? { ...cause, retryable: verdict === "true" }
    : cause;
}

function evidenceOf(
  status: number,
  body: string,
  retryAfterMs: number | undefined,
  header: HeaderReader,
): JsonObject {
  const requestId = requestIdOf(header);
  return {
    status,
    body: excerpt(body),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(requestId === undefined ? {} : { requestId }),
  };
}

interface VendorError {
  /** The vendor's names for it, the most specific first. */
  readonly names: readonly Json[];
  readonly message: string;
  readonly object: JsonObject;
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
  const object: JsonObject = isJsonObject(error) ? error : outer;
  const own = object["message"] ?? object["detail"] ?? object["Message"];
  const message = typeof error === "string" ? error : own;
  if (typeof message !== "string") return undefined;
  const { code, status, type } = object as Partial<Record<string, Json>>;
  // A code is more specific than a type such as `invalid_request_error`, which most have.
  const words = [...detailNames(object), awsNameOf(object["__type"]), code, status, type].filter(
    (name): name is string => typeof name === "string" && name !== "invalid_request_error",
  );
  return { names: [...words, ...(typeof code === "number" ? [code] : [])], message, object };
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
    const code = codeOfError(error.names, error.message);
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

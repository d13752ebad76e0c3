import type { Cause, Json } from "@millrace/core";
import type { Ending } from "@millrace/core/writing";
import {
  codeOfError,
  errorIn,
  excerpt,
  failure,
  networkFailure,
  statusFailure,
  vendorFailure,
  withRetryTime,
} from "@millrace/providers/protocol-kit";
import type { FailureCode } from "@millrace/providers/protocol-kit";
import { fieldsOf, plainObject, textOr } from "./read.ts";
import type { Fields } from "./read.ts";

/** Failure codes by the names of framework errors. A name is more precise than its message. */
const codeOfName: Readonly<Record<string, FailureCode>> = {
  AI_InvalidArgumentError: "bad_request",
  AI_InvalidPromptError: "bad_request",
  AI_JSONParseError: "bad_json",
  AI_LoadAPIKeyError: "missing_key",
  AI_NoOutputGeneratedError: "truncated",
  AI_NoSuchModelError: "not_found",
  AI_TypeValidationError: "bad_json",
  AI_UnsupportedFunctionalityError: "bad_request",
  ContextOverflowError: "context_overflow",
  ModelTimeoutError: "request_timeout",
  TimeoutError: "request_timeout",
};

/**
 * Converts any value that a framework threw or reported to a cause. `reading`: the reply had begun,
 * so a broken connection may have cut it. Never throws.
 */
export function causeOf(thrown: unknown, reading: boolean): Cause {
  const error = lastOf(thrown);
  const fields = fieldsOf(error);
  const status = statusOf(fields);
  if (status !== undefined) return statusCause(fields, status);
  const name = textOr(fields["name"], "");
  const message = messageOf(error);
  const code = codeOfName[name];
  if (code !== undefined) return failure(code, message, { error: name });
  // AI SDK providers report a stream that ended early only by this message.
  if (name === "AI_InvalidResponseDataError" && /ended without/i.test(message)) {
    return failure("truncated", message, { error: name });
  }
  if (isNetworkError(error)) return networkFailure(error, { reading });
  const reported = errorObject(error);
  if (reported !== undefined) return reported;
  return failure(codeOfError([], message), message, name === "" ? undefined : { error: name });
}

/** A cut by the transport is a truncation; any other cause is a failure. */
export function cutBy(cause: Cause): Ending {
  const isTruncated = cause.code === "truncated" || cause.code === "truncated_transport";
  return { stop: isTruncated ? "truncated" : "failed", cause };
}

/** True for the error of an aborted request, from any library. */
export function isAbort(error: unknown): boolean {
  const name = fieldsOf(error)["name"];
  return name === "AbortError" || name === "APIUserAbortError" || name === "ResponseAborted";
}

export function messageOf(error: unknown): string {
  const message = typeof error === "string" ? error : fieldsOf(error)["message"];
  return excerpt(textOr(message, "something was thrown that is not an error"), 300);
}

/** Retry helpers throw an error with a list of errors. The last one is why they gave up. */
function lastOf(error: unknown): unknown {
  const { lastError } = fieldsOf(error);
  return lastError === undefined ? error : lastError;
}

function statusOf(fields: Fields): number | undefined {
  const status = fields["statusCode"] ?? fields["status"];
  return typeof status === "number" && status >= 300 && status < 600 ? status : undefined;
}

function statusCause(fields: Fields, status: number): Cause {
  const body = fields["responseBody"] ?? JSON.stringify(plainObject(fields["error"]) ?? {});
  const text = textOr(body, "");
  const now = Date.now();
  const found = statusFailure(status, text, { header: headerOf(fields), now });
  const known = errorIn(text) === undefined ? { ...found, message: messageOf(fields) } : found;
  const cause = withRetryTime(known, now);
  // Only `false` counts. Whether a retry can help is decided by the failure code.
  return fields["isRetryable"] === false ? { ...cause, retryable: false } : cause;
}

function headerOf(fields: Fields): (name: string) => string | undefined {
  const headers = fields["responseHeaders"] ?? fields["headers"];
  if (headers instanceof Headers) return (name) => headers.get(name) ?? undefined;
  const named = fieldsOf(headers);
  return (name) => (typeof named[name] === "string" ? named[name] : undefined);
}

function isNetworkError(error: unknown): boolean {
  let current = error;
  for (let depth = 0; current instanceof Error && depth < 8; depth += 1) {
    const code = textOr(fieldsOf(current)["code"], "");
    if (/^(?:E[A-Z]+|UND_ERR_\w+|HPE_\w+)$/.test(code)) return true;
    if (current instanceof TypeError && /^(?:terminated|fetch failed)$/.test(current.message)) {
      return true;
    }
    current = current.cause;
  }
  return false;
}

/** Reads an error object that the vendor sent in its stream and the framework passed on. */
function errorObject(error: unknown): Cause | undefined {
  const text = typeof error === "string" ? error : JSON.stringify(plainObject(error) ?? {});
  const found = errorIn(text);
  if (found === undefined) return undefined;
  const evidence: Json = { body: excerpt(text) };
  const { data, type } = fieldsOf(error);
  const names = [...found.names, plainObject(data)?.["type"], typeof type === "string" ? type : ""];
  return vendorFailure(names, excerpt(found.message, 300), evidence);
}

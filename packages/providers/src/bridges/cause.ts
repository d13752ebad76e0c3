import type { Cause, Json } from "@millrace/core";
import type { Ending } from "@millrace/core/writing";
import { networkFailure } from "../transport/errors.ts";
import { codeOfError, failure, vendorFailure } from "../failure.ts";
import type { FailureCode } from "../failure.ts";
import { excerpt } from "../transport/redact.ts";
import { errorIn, retryAfter, statusFailure } from "../transport/vendor-error.ts";
import { fieldsOf, plainObject, textOr } from "./read.ts";
import type { Fields } from "./read.ts";

/** Frameworks name their errors; these names say more than the message does. */
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
 * The cause for whatever a framework threw or reported. `reading`: the reply had begun, so a broken
 * connection may have cut it. Never throws.
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
  // The one way in which providers of this family say that the stream just ended.
  if (name === "AI_InvalidResponseDataError" && /ended without/i.test(message)) {
    return failure("truncated", message, { error: name });
  }
  if (isNetworkError(error)) return networkFailure(error, reading);
  const reported = errorObject(error);
  if (reported !== undefined) return reported;
  return failure(codeOfError([], message), message, name === "" ? undefined : { error: name });
}

/** A cut by the transport is a truncation; all else is a failure. */
export function cutBy(cause: Cause): Ending {
  const isTruncated = cause.code === "truncated" || cause.code === "truncated_transport";
  return { stop: isTruncated ? "truncated" : "failed", cause };
}

/** True for what an aborted request throws, whoever threw it. */
export function isAbort(error: unknown): boolean {
  const name = fieldsOf(error)["name"];
  return name === "AbortError" || name === "APIUserAbortError" || name === "ResponseAborted";
}

export function messageOf(error: unknown): string {
  const said = typeof error === "string" ? error : fieldsOf(error)["message"];
  return excerpt(textOr(said, "something was thrown that is not an error"), 300);
}

/** Whoever tries again throws a list of errors. The last one is why it gave up. */
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
  const said = textOr(body, "");
  const retryAfterMs = retryAfter(headerOf(fields), Date.now());
  const cause = statusFailure(status, said, { retryAfterMs });
  const told = errorIn(said) === undefined ? { ...cause, message: messageOf(fields) } : cause;
  // A vendor may say that it is of no use; that it is of use we decide by what went wrong.
  return fields["isRetryable"] === false ? { ...told, retryable: false } : told;
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

/** An error that a vendor sent in its stream, handed on as it was. */
function errorObject(error: unknown): Cause | undefined {
  const text = typeof error === "string" ? error : JSON.stringify(plainObject(error) ?? {});
  const said = errorIn(text);
  if (said === undefined) return undefined;
  const evidence: Json = { body: excerpt(text) };
  const { data, type } = fieldsOf(error);
  const names = [said.code, plainObject(data)?.["type"], typeof type === "string" ? type : ""];
  return vendorFailure(names, excerpt(said.message, 300), evidence);
}

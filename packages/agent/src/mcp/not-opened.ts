import { redact, redactError } from "@millrace/core/secrets";
import { oneLine } from "./visible-text.ts";

/** The error of a server that could not be opened: where it is, why, and the last of what it wrote. */
export function notOpened(
  options: { readonly name: string; readonly url?: string | undefined },
  { error, how, words }: { error: unknown; how: string | undefined; words: string },
): Error {
  const place = options.url === undefined ? "" : ` at ${addressOf(options.url)}`;
  const reason = how === undefined ? oneLine(redact(reasonOf(error)), 1_000) : `it ${how}`;
  const said = words === "" ? "" : `; it last said: ${words}`;
  const message = `the server ${options.name} could not be opened${place}: ${reason}${said}`;
  // As data: printed, the stack of the error would hide the message.
  const cause =
    error instanceof Error
      ? { name: error.name, message: redact(reasonOf(error)) }
      : redactError(error);
  return new Error(message, { cause });
}

/** An address without credentials and query. */
function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/** The message of an error and of the innermost error in it: `fetch` reports only itself. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  let inner = error;
  while (inner.cause instanceof Error) inner = inner.cause;
  if (inner === error) return error.message;
  // Several addresses of one name were tried: such an error has a code and no message.
  const code = "code" in inner && typeof inner.code === "string" ? inner.code : inner.name;
  return `${error.message}: ${inner.message === "" ? code : inner.message}`;
}

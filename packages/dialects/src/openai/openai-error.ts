import { isRetryable, openFields, text } from "@millrace/server/dialect";
import type { Problem, RefusalFormat } from "@millrace/server/dialect";

/** A refusal as clients of OpenAI's API read it, the same for both formats of that API. */
export const openaiRefusals: RefusalFormat = {
  mediaType: "application/json",
  shape: openFields({
    error: openFields({
      message: text,
      type: text,
      code: text,
      param: { description: "A place, or null" },
    }),
  }),
  encode: ({ message, code, status, extra }: Problem) => {
    const param = extra.pointer === undefined ? null : paramOf(extra.pointer);
    return JSON.stringify({ error: { message, type: typeOf(status), code, param } });
  },
  // These clients repeat what was refused for good, unless a header forbids it.
  headers: (problem) => (isRetryable(problem) ? {} : { "x-should-retry": "false" }),
};

function typeOf(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

/** A place in the body in their way: `/input/0/content` is `input[0].content`. */
function paramOf(pointer: string): string {
  const names = pointer.split("/").slice(1);
  return names
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((path, name) => {
      if (/^\d+$/.test(name)) return `${path}[${name}]`;
      return path === "" ? name : `${path}.${name}`;
    }, "");
}

import type { Problem } from "./problem.ts";
import type { ObjectShape } from "./shape.ts";
import { openFields, text } from "./shapes.ts";

/** A refusal as clients of OpenAI's API read it. */
export interface OpenaiError {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly code: string;
    readonly param: string | null;
  };
}

/** Its shape, for the document. */
export const openaiErrorShape: ObjectShape = openFields({
  error: openFields({
    message: text,
    type: text,
    code: text,
    param: { description: "A place, or null" },
  }),
});

/** The same for both formats of that API. */
export function openaiError({ message, code, status, extra }: Problem): OpenaiError {
  const param = extra.pointer === undefined ? null : paramOf(extra.pointer);
  return { error: { message, type: typeOf(status), code, param } };
}

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

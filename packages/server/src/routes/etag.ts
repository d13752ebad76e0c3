import { createHash } from "node:crypto";
import type { Answer } from "../http/answer.ts";
import type { RouteContext } from "../http/route-context.ts";

/** The tag of a text that is no secret. */
export function hashTag(text: string): string {
  return `"${createHash("sha256").update(text).digest("base64url").slice(0, 27)}"`;
}

/** True if a list of tags, as `If-None-Match` has it, names this one. A weak tag counts as a strong one. */
export function namesTag(list: string | undefined, tag: string): boolean {
  if (list === undefined) return false;
  if (list.trim() === "*") return true;
  return list.split(",").some((each) => each.trim().replace(/^W\//, "") === tag);
}

/** The answer with its tag, or 304 if the client has it. */
export function tagged(
  { header }: Pick<RouteContext, "header">,
  tag: string,
  answer: () => Answer,
): Answer {
  if (namesTag(header("if-none-match"), tag)) return { status: 304, headers: { etag: tag } };
  const full = answer();
  return { ...full, headers: { ...full.headers, etag: tag } };
}

/** JSON that is a text already. */
export function jsonText(status: number, text: string): Answer {
  return {
    status,
    headers: { "content-type": "application/json; charset=utf-8" },
    bytes: Buffer.from(text),
  };
}

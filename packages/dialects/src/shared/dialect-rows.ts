import { anyFields, listOf, openFields, shortText, text } from "@millrace/server/dialect";
import type { DialectRoute, RefusalFormat, Route } from "@millrace/server/dialect";

/** A refusal is its sentence alone, for clients that show the body of a refusal as it is. */
export const textRefusals: RefusalFormat = {
  mediaType: "text/plain",
  shape: text,
  encode: ({ message }) => message,
};

/** What a dialect's history has in common with that of any other: the newest messages, page by page. */
export const newestMessagesRow: Pick<Route, "query" | "answers" | "stream" | "cacheControl"> = {
  query: {
    limit: { type: "integer", minimum: 1, maximum: 1_000 },
    before: shortText(256, "The `next` of the page before"),
  },
  answers: {
    200: {
      summary: "The newest messages, oldest first",
      json: openFields({ messages: listOf(anyFields), "next?": text }),
      headers: ["ETag"],
    },
    304: { summary: "Not changed", headers: ["ETag"] },
  },
  stream: "never",
  cacheControl: "private, no-cache",
};

/** How a message to a session may be refused that its first message makes. */
export const sendProblems: Route["problems"] = [
  "session_exists",
  "read_only",
  "quarantined",
  "locked",
  "key_reused",
  "quota_exceeded",
];

/** A route as far as it differs from most. */
export type DialectRow = Partial<DialectRoute> &
  Pick<DialectRoute, "name" | "method" | "path" | "summary" | "answers" | "work">;

/** A row with what most routes of dialects have in common: no query, no body, no key, and no streams. */
export function dialectRoute(row: DialectRow): DialectRoute {
  return {
    actions: [],
    signedIn: true,
    key: "none",
    query: {},
    request: { kind: "none" },
    problems: [],
    stream: "never",
    cacheControl: "no-store",
    bucket: "requests",
    ...row,
  };
}

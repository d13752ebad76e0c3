import type { Route } from "./route.ts";
import { anyFields, listOf, openFields, shortText, text } from "./shapes.ts";

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

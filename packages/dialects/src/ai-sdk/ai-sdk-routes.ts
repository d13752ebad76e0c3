import { profiles } from "./encode/profiles.ts";
import { readMessages, resumeStream } from "./read.ts";
import { sendMessages } from "./send.ts";
import {
  dialectRoute,
  newestMessagesRow,
  sendProblems,
  textRefusals,
} from "../shared/dialect-rows.ts";
import type { DialectRow } from "../shared/dialect-rows.ts";
import type { Dialect } from "@millrace/server/dialect";
import {
  anyFields,
  fields,
  listOf,
  openFields,
  sessionIdPattern,
  shortText,
} from "@millrace/server/dialect";

/** A message as a page holds it. Its parts are checked where they are read. */
const message = openFields({
  id: shortText(256),
  role: { enum: ["user", "assistant", "system"] },
  parts: listOf(anyFields, 10_000),
});

/** The body of `DefaultChatTransport`. Closed: what a page adds for another server would be ignored here. */
const sendBody = fields({
  id: { type: "string", pattern: sessionIdPattern },
  messages: listOf(message, 100_000, 1),
  "trigger?": { enum: ["submit-message", "regenerate-message"] },
  "messageId?": shortText(256, "The message that is edited or given again"),
  "kind?": {
    enum: ["prompt", "steer", "follow_up"],
    description: "`steer` and `follow_up` are taken up by the run that is on",
  },
});

/** Each version has a path of its own: a page that can't be changed can still name another `api`. */
const versions = [
  { path: "/ai-sdk", suffix: "", name: 7 },
  { path: "/ai-sdk-v6", suffix: "V6", name: 6 },
  { path: "/ai-sdk-v5", suffix: "V5", name: 5 },
] as const;

/** The routes of `useChat`, for each major version of the AI SDK. */
const rows: readonly DialectRow[] = versions.flatMap(({ path, suffix, name }): DialectRow[] => [
  {
    name: `aiSdkSend${suffix}`,
    work: sendMessages(profiles[name]),
    method: "POST",
    path,
    summary: `AI SDK ${name}: sends a message or answers, and streams the reply`,
    request: { kind: "json", large: true, shape: sendBody },
    answers: {
      200: {
        summary: "The UI message stream",
        bytes: ["text/event-stream"],
        headers: ["X-Vercel-AI-UI-Message-Stream", "Millrace-Run"],
      },
    },
    problems: sendProblems,
    stream: "always",
    bucket: "inputs",
  },
  {
    ...newestMessagesRow,
    name: `aiSdkMessages${suffix}`,
    work: readMessages(profiles[name]),
    method: "GET",
    path: `${path}/{id}`,
    summary: `AI SDK ${name}: reads the session as messages`,
    actions: ["read"],
  },
  {
    name: `aiSdkResume${suffix}`,
    work: resumeStream(profiles[name]),
    method: "GET",
    path: `${path}/{chat}/stream`,
    summary: `AI SDK ${name}: streams the message that is being written, from its start`,
    answers: {
      200: {
        summary: "The UI message stream",
        bytes: ["text/event-stream"],
        headers: ["X-Vercel-AI-UI-Message-Stream", "Millrace-Run"],
      },
      204: { summary: "Nothing is being written, or nothing that you may read" },
    },
    problems: ["quota_exceeded"],
    stream: "always",
  },
]);

const routes = rows.map((row) => dialectRoute({ refusals: textRefusals, ...row }));

/** The AI SDK 5, 6 and 7, for `useChat`, at `/ai-sdk-v5`, `/ai-sdk-v6` and `/ai-sdk` below the mount. */
export function aiSdk(): Dialect {
  return { name: "ai-sdk", routes };
}

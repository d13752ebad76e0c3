import { readMessages } from "./resume-run.ts";
import { runAgent } from "./run.ts";
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

/** A message as a page holds it. What it says is checked where it is read. */
const message = openFields({
  id: shortText(256),
  role: { enum: ["user", "assistant", "tool", "reasoning", "activity", "system", "developer"] },
});

/** `RunAgentInput`. Closed: what a page adds for another server would be ignored here. */
const runBody = fields({
  threadId: { type: "string", pattern: sessionIdPattern, description: "The session" },
  runId: shortText(256),
  messages: listOf(message, 100_000),
  "protocolVersion?": shortText(16),
  "parentRunId?": shortText(256),
  "state?": { description: "Empty: sessions have none" },
  "tools?": listOf(anyFields, 1_000),
  "context?": listOf(anyFields, 1_000),
  "forwardedProps?": { description: "`kind`: `steer` and `follow_up` are for the run that is on" },
  "resume?": listOf(
    fields({
      interruptId: shortText(256),
      status: { enum: ["resolved", "cancelled"] },
      "payload?": { description: "`{ approved, reason }`" },
    }),
    1_000,
  ),
});

/** The routes of AG-UI's `HttpAgent`. */
const rows: readonly DialectRow[] = [
  {
    name: "agUiRun",
    work: runAgent,
    method: "POST",
    path: "/ag-ui",
    summary: "AG-UI: sends a message or answers, or comes back, and streams the run",
    request: { kind: "json", large: true, shape: runBody },
    answers: {
      200: {
        summary: "Events of AG-UI",
        bytes: ["text/event-stream"],
        headers: ["Millrace-Run"],
      },
    },
    problems: sendProblems,
    stream: "always",
    bucket: "inputs",
  },
  {
    ...newestMessagesRow,
    name: "agUiMessages",
    work: readMessages,
    method: "GET",
    path: "/ag-ui/{id}",
    summary: "AG-UI: reads the session as messages",
    actions: ["read"],
  },
];

const routes = rows.map((row) => dialectRoute({ refusals: textRefusals, ...row }));

/** AG-UI 1.0, for its `HttpAgent`, at `/ag-ui` below the mount. */
export function agUi(): Dialect {
  return { name: "ag-ui", routes };
}

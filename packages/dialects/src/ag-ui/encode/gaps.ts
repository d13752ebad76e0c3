import type { Gap } from "../../shared/encode/gap.ts";

/** What AG-UI can't say as we do, and what its readers get instead. Printed in `docs/dialects.md`. */
export const agUiGaps: readonly Gap[] = [
  {
    about: "a reply that is begun again after some of it was shown",
    versions: "all",
    instead:
      "`MESSAGES_SNAPSHOT`: what the page sent, and the run as it is now. Where reasoning goes with the reply, or a message comes between others, two snapshots before it clear the page: one alone lets reasoning stay, and adds at the end",
  },
  {
    about: "reasoning or an activity that is to go",
    versions: "before 1.0",
    instead:
      "it goes, and an activity `millrace.cleared` without content stays in the page until it is loaded anew",
  },
  {
    about: "several parts in one message",
    versions: "all",
    instead:
      "each part is a message of its own, so that the place of a result does not depend on when it came; a step (`STEP_STARTED`) is a model call",
  },
  {
    about: "the id of a call",
    versions: "all",
    instead:
      "the call is named by its place; its own id, which our routes know, is `metadata.millrace.callId`",
  },
  {
    about: "how a call failed, or that it was denied",
    versions: "all",
    instead: "the words in `content`, and `metadata.millrace.status` of the result",
  },
  {
    about: "a question to a person",
    versions: "all",
    instead:
      "an interrupt, once nothing else of the run goes on; `payload` is `{ approved, reason }`, and `cancelled` denies. Changed arguments (`editedArgs`) are refused",
  },
  {
    about: "the answer that another person gave",
    versions: "all",
    instead: "what the call came to, without who decided",
  },
  {
    about: "a tool of the page that waits to be carried out",
    versions: "before 1.0",
    instead:
      "`RUN_FINISHED` as of any run: the call has no result. 1.0 is told `pendingToolCallIds`",
  },
  {
    about: "a run that was stopped, or that a limit ended",
    versions: "before 1.0",
    instead:
      "`RUN_FINISHED` with `metadata.millrace.outcome`. 1.0 is told the outcome `cancelled` too",
  },
  {
    about: "Stop",
    versions: "all",
    instead: "`abortRun()` only hangs up; the button posts to `/v1/sessions/{id}/abort`",
  },
  {
    about: "progress and output of a tool that runs",
    versions: "all",
    instead: "`CUSTOM` events `millrace.tool-progress`, which no message keeps",
  },
  {
    about: "the text of a sub-agent",
    versions: "all",
    instead:
      "`SUBAGENT_STARTED` and `SUBAGENT_FINISHED`, whose id is the session of the sub-agent: our own client can follow it",
  },
  {
    about: "files, structured and custom parts of a reply",
    versions: "all",
    instead:
      "messages of the role `activity`: `file` with `{ url, mediaType, name }`, once it is whole; `structured` and the part's name with `{ value }`",
  },
  {
    about: "a note or a follow-up while the run is on",
    versions: "all",
    instead:
      'a message of the user in the run\'s stream, sent by another agent object with `forwardedProps: { kind: "steer" }` or `"follow_up"`; with files, a snapshot',
  },
  {
    about: "a message that is sent while a run waits for the answers beside it",
    versions: "all",
    instead:
      "the stream of its own run; what the first run still says is there at the next coming back",
  },
  {
    about: "state, context and tools that the page describes",
    versions: "all",
    instead:
      "refused; of `tools`, the names of the agent's own client tools are taken, and the agent's descriptions count",
  },
  {
    about: "what a vendor wants back, such as signatures",
    versions: "all",
    instead: "nothing: the store has it, and the page's history is never sent to a model",
  },
  {
    about: "messages of the page's own, such as those of the system",
    versions: "all",
    instead: "they stay until the page comes back: then it holds what the session has",
  },
  {
    about: "a conversation of more than 8 MiB",
    versions: "all",
    instead: "coming back shows the newest messages; `GET /ag-ui/{id}` has all, page by page",
  },
  {
    about: "the end of a stream by a deploy, a slow reader or a limit of time",
    versions: "all",
    instead: "`RUN_ERROR` with the reason as its code; `runAgent()` comes back",
  },
];

import type { Gap } from "../../shared/encode/gap.ts";

/** The gaps of the AI SDK's dialect. */
export const aiSdkGaps: readonly Gap[] = [
  {
    about: "a reply that is begun again after some of it was shown",
    versions: "5, 6",
    instead:
      "the stream ends with an error that says so, and the run goes on; the page loads its messages anew and resumes. In 7 the step is taken back in the stream",
  },
  {
    about: "coming back while the page still holds a part of the message that is written",
    versions: "5",
    instead:
      "`resumeStream()` adds the whole message to that part: the page loads its messages anew first. 6 and 7 put the message in its place",
  },
  {
    about: "sending answers again while the page holds a piece of a reply that was cut off",
    versions: "all",
    instead: "an error that asks to load anew: a client adds the rest of a message to all it holds",
  },
  {
    about: "a reply that was taken back and never came again",
    versions: "7",
    instead: "an empty step stays in the page until it is loaded anew",
  },
  {
    about: "an item that was exchanged after others followed it, or undone by an operator",
    versions: "all",
    instead: "as above: an error that asks to load anew",
  },
  {
    about: "a question to a person",
    versions: "5",
    instead:
      "a part `data-approval`; the page answers by our own route, and goes on with `sendMessage()`",
  },
  {
    about: "the answer that another person gave",
    versions: "6",
    instead: "what the call came to, without who decided",
  },
  {
    about: "a note or a follow-up while the run is on",
    versions: "5, 6",
    instead: "a part `data-steering` in the run's message; 7 has `steering-message`",
  },
  {
    about: "progress and output of a tool that runs",
    versions: "all",
    instead: "transient parts `data-tool-progress`: `onData` gets them, messages do not keep them",
  },
  {
    about: "the text of a sub-agent",
    versions: "all",
    instead:
      "a transient part `data-sub-agent` that names its session, which can be followed by our own client",
  },
  {
    about: "structured and custom parts",
    versions: "all",
    instead: "parts `data-structured` and `data-<name>`",
  },
  {
    about: "the name of a file that a model wrote; bytes while they are written",
    versions: "all",
    instead: "a part `file` without a name, once it is whole",
  },
  {
    about: "what a vendor wants back, such as signatures",
    versions: "all",
    instead: "nothing: the store has it, and the page's history is never sent to a model",
  },
  {
    about: "Stop",
    versions: "all",
    instead: "`stop()` only hangs up; the button also posts to `/v1/sessions/{id}/abort`",
  },
  {
    about: "another reply, and an edited message",
    versions: "all",
    instead:
      "the prompt is asked again, or the new one is sent; what was said before stays in the session",
  },
  {
    about: "a call id that comes again in a later step",
    versions: "all",
    instead: "the call is named with a number, `call_1~2`",
  },
  {
    about: "the end of a stream by a deploy, a slow reader or a limit of time",
    versions: "all",
    instead: "an error; the page loads anew and resumes",
  },
];

/** What OpenAI's two formats can't say as we do, and what their readers get instead. Printed in `docs/dialects.md`. */
export interface OpenaiGap {
  readonly about: string;
  /** The format that it is true of. */
  readonly format: "Responses" | "chat" | "both";
  readonly instead: string;
}

/** The gaps of OpenAI's dialects. */
export const openaiGaps: readonly OpenaiGap[] = [
  {
    about:
      "a reply that is begun again after some of it was shown, or exchanged after it was stored",
    format: "both",
    instead:
      "an error with the code `begun_again` ends the stream, and the run goes on; `GET /responses/{id}` has it, also as a stream from its start",
  },
  {
    about: "the same while a reader was away, which then comes back with `starting_after`",
    format: "Responses",
    instead:
      "the same error, and nothing of the other attempt: a `sequence_number` marks the attempts that wrote what is before it. The error comes when the other attempt writes, or when the run goes on without it",
  },
  {
    about:
      "the same for the helper `responses.stream({ response_id, starting_after })`, which reads from the start and skips events itself",
    format: "Responses",
    instead:
      "no error: its snapshots and its final response are of one attempt, and items of another attempt have other ids. A page that adds deltas to what it has resumes by `retrieve`",
  },
  {
    about: "the pieces in which a text was written",
    format: "Responses",
    instead:
      "a `sequence_number` counts the characters of texts, in units of 2^24, so it is large and leaves out numbers, and the pieces may be others at the next reading; what they add up to is not",
  },
  {
    about: "tools of the agent",
    format: "Responses",
    instead:
      "items `mcp_call` of a server `agent`, which a client does not run; `function_call` is for tools of the client alone",
  },
  { about: "tools of the agent", format: "chat", instead: "nothing: only what was said" },
  {
    about: "the arguments of a call while they are written",
    format: "both",
    instead: "the call once it is known who carries it out, with its arguments whole",
  },
  {
    about: "progress, output and sub-agents of a tool that runs",
    format: "both",
    instead: "what it came to; our own events have the rest",
  },
  {
    about: "a question to a person",
    format: "Responses",
    instead: "`mcp_approval_request`, answered by `mcp_approval_response`",
  },
  {
    about: "a question to a person",
    format: "chat",
    instead:
      "a `refusal` that says what waits and where it is decided; the session takes no message before that",
  },
  {
    about: "what a tool of the client came to, as JSON",
    format: "both",
    instead: "its text: an object or a list as JSON is taken as that, all else as text",
  },
  {
    about: "that a tool of the client failed",
    format: "both",
    instead:
      "a text that says so, which the tool's schema may refuse; `/v1/sessions/{id}/answers` has `error`",
  },
  {
    about: "several texts of one run",
    format: "chat",
    instead: "one text with blank lines between them; reasoning the same, as `reasoning_content`",
  },
  {
    about: "images, files, structured and custom parts that a model wrote",
    format: "both",
    instead: "nothing; our own routes have them",
  },
  {
    about: "a refusal of the model",
    format: "both",
    instead: "its text, and an end by `content_filter`",
  },
  {
    about: "a run that reached a limit",
    format: "both",
    instead: "an end by `max_output_tokens` (chat: `length`), whichever limit it was",
  },
  {
    about: "that a response was cancelled",
    format: "Responses",
    instead: "the last event is `response.incomplete`, with the status `cancelled` in its response",
  },
  {
    about: "that a run was stopped",
    format: "chat",
    instead: "an end by `stop`",
  },
  {
    about: "a note while the run is on",
    format: "both",
    instead:
      "a message beside answers is one; else it waits for the run's end, or goes by our own route",
  },
  {
    about: "a branch from an earlier response",
    format: "Responses",
    instead: "a refusal: the newest is gone on with, or the session is forked by our own route",
  },
  {
    about: "what was said before, in the messages of a request",
    format: "chat",
    instead: "it is not read: the session has it. Without a session it is refused",
  },
  {
    about: "model, instructions, tools and settings in a request",
    format: "both",
    instead:
      'a refusal that says what to do, unless they ask for what happens anyway; the model is "agent"',
  },
  {
    about: "a way back to a completion that was cut off",
    format: "chat",
    instead: "its session, if it has one; else its run is stopped 30 s later",
  },
  {
    about: "a run that an operator took back",
    format: "both",
    instead: "a response that failed and says so",
  },
];

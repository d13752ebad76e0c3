import type { Dialect } from "@millrace/server/dialect";
import { complete } from "./complete.ts";
import { createResponse } from "./create-response.ts";
import { dialectRoute } from "../shared/dialect-rows.ts";
import type { DialectRow } from "../shared/dialect-rows.ts";
import { openaiRefusals } from "./openai-error.ts";
import { cancelResponse, getResponse, listInputItems, listModels } from "./read-response.ts";
import { anyFields, flag, listOf, openFields, shortText, text } from "@millrace/server/dialect";

const any = {
  description: "Checked where it is read: what is not taken is refused with the reason",
};

/** Open: what the agent does not take is refused where its reason is known. */
const responsesBody = openFields({
  "input?": any,
  "model?": any,
  "stream?": any,
  "previous_response_id?": any,
  "conversation?": any,
});

const completionsBody = openFields({
  messages: listOf(anyFields, 100_000, 1),
  "model?": any,
  "stream?": any,
});

const response = openFields({ id: text, object: { enum: ["response"] }, status: text });

/** What a request that begins a run, or goes on with one, can be refused for. */
const sendProblems = [
  "session_exists",
  "read_only",
  "quarantined",
  "locked",
  "settled",
  "key_reused",
  "quota_exceeded",
] as const;

const sent = { bytes: ["text/event-stream"], headers: ["Millrace-Run", "Millrace-Session"] };

/** The routes of the `openai` library, for both formats: `baseURL` is `<mount>/openai/v1`. */
const rows: readonly DialectRow[] = [
  {
    name: "openaiRespond",
    work: createResponse,
    method: "POST",
    path: "/openai/v1/responses",
    summary: "OpenAI Responses: sends a message or answers, and gives the response",
    key: "optional",
    request: { kind: "json", large: true, shape: responsesBody },
    answers: { 200: { summary: "The response, or its events", json: response, ...sent } },
    problems: sendProblems,
    stream: "named",
    bucket: "inputs",
  },
  {
    name: "openaiGetResponse",
    work: getResponse,
    method: "GET",
    path: "/openai/v1/responses/{response}",
    summary: "OpenAI Responses: reads a response, or its events after a number",
    query: {
      stream: flag,
      starting_after: { type: "integer", minimum: 0 },
      include_obfuscation: { enum: ["false"] },
    },
    answers: { 200: { summary: "The response, or its events", json: response, ...sent } },
    stream: "named",
  },
  {
    name: "openaiCancelResponse",
    work: cancelResponse,
    method: "POST",
    path: "/openai/v1/responses/{response}/cancel",
    summary: "OpenAI Responses: stops the run of a response",
    request: { kind: "json", shape: openFields({}), optional: true },
    answers: { 200: { summary: "The response", json: response } },
    bucket: "aborts",
  },
  {
    name: "openaiInputItems",
    work: listInputItems,
    method: "GET",
    path: "/openai/v1/responses/{response}/input_items",
    summary: "OpenAI Responses: lists what a response was given",
    query: {
      limit: { type: "integer", minimum: 1, maximum: 100 },
      order: { enum: ["asc", "desc"] },
      after: shortText(512),
    },
    answers: { 200: { summary: "The items", json: openFields({ data: listOf(anyFields) }) } },
  },
  {
    name: "openaiComplete",
    work: complete,
    method: "POST",
    path: "/openai/v1/chat/completions",
    summary: "OpenAI chat completions: sends the last messages, and gives the completion",
    key: "optional",
    request: { kind: "json", large: true, shape: completionsBody },
    answers: {
      200: {
        summary: "The completion, or its chunks",
        json: openFields({ id: text, object: { enum: ["chat.completion"] } }),
        ...sent,
      },
    },
    problems: sendProblems,
    stream: "named",
    bucket: "inputs",
  },
  {
    name: "openaiModels",
    work: listModels,
    method: "GET",
    path: "/openai/v1/models",
    summary: "OpenAI: lists the agent as the one model",
    answers: { 200: { summary: "The models", json: openFields({ data: listOf(anyFields) }) } },
  },
];

/** What the `openai` library adds to each request, also in a browser. */
const requestHeaders = (
  "Arch Lang OS Package-Version Runtime Runtime-Version " +
  "Retry-Count Timeout Helper-Method Poll-Helper"
)
  .split(" ")
  .map((name) => `X-Stainless-${name}`);

const routes = rows.map((row) => dialectRoute({ refusals: openaiRefusals, ...row }));

/** OpenAI's Responses and chat completions, for the `openai` library: `baseURL` is `<mount>/openai/v1`. */
export function openai(): Dialect {
  return { name: "openai", routes, requestHeaders };
}

import type { Sent, Target } from "./matrix-world.ts";

/** What is sent to a session by a route: each way in which the route reaches one. */
type Requests = (target: Target) => readonly Sent[];

const session = ({ id }: Target): string => `/v1/sessions/${encodeURIComponent(id)}`;

const prompt = (text: string): object => ({ kind: "prompt", text });

const aiSdkSend =
  (path: string): Requests =>
  ({ id, approvalId, callId }) => {
    const part = (fields: object): Sent => ({
      path,
      body: { id, messages: [{ id: "a1", role: "assistant", parts: [fields] }] },
    });
    const approval = { id: approvalId, approved: true };
    return [
      {
        path,
        body: { id, messages: [{ id: "m1", role: "user", parts: [{ type: "text", text: "x" }] }] },
      },
      part({
        type: "tool-wipe",
        toolCallId: callId,
        state: "approval-responded",
        input: {},
        approval,
      }),
      part({
        type: "tool-locate",
        toolCallId: callId,
        state: "output-available",
        input: {},
        output: "x",
      }),
      { path, body: { id, messages: [], trigger: "regenerate-message", messageId: "m1" } },
    ];
  };

const readable =
  (path: string): Requests =>
  ({ id }) => [{ path: path.replace("{id}", encodeURIComponent(id)) }];

/** One entry for each route that there is, and for no other. */
export const requests: Readonly<Record<string, Requests>> = {
  createSession: ({ id }) => [
    { path: "/v1/sessions", body: { id } },
    { path: "/v1/sessions", body: { owner: "ann", id: `${id}-of-another` } },
  ],
  listSessions: ({ id }) => [
    { path: "/v1/sessions" },
    { path: "/v1/sessions?owner=ann" },
    { path: `/v1/sessions?parent=${encodeURIComponent(id)}` },
  ],
  getSession: (target) => [{ path: session(target) }],
  updateSession: (target) => [
    { path: session(target), method: "PATCH", body: { title: "x" } },
    { path: session(target), method: "PATCH", body: { metadata: { note: "x" } } },
  ],
  removeSession: (target) => [{ path: session(target), method: "DELETE" }],
  forkSession: (target) => [{ path: `${session(target)}/forks`, body: { itemId: target.itemId } }],
  exportSession: (target) =>
    ["jsonl", "markdown", "html"].map((format) => ({
      path: `${session(target)}/export?format=${format}&children=true`,
    })),
  postInput: (target) => [
    { path: `${session(target)}/inputs`, body: prompt("x") },
    { path: `${session(target)}/inputs`, body: { kind: "steer", text: "x" } },
    { path: `${session(target)}/inputs`, body: { kind: "follow_up", text: "x" } },
  ],
  takeBackInput: (target) => [
    { path: `${session(target)}/inputs/${target.inputId}`, method: "DELETE" },
  ],
  abortRun: (target) => [
    { path: `${session(target)}/abort`, body: {} },
    { path: `${session(target)}/abort`, body: { runId: target.runId } },
  ],
  getRun: (target) => [{ path: `${session(target)}/runs/${target.runId}` }],
  listApprovals: (target) => [
    { path: `${session(target)}/approvals` },
    { path: `${session(target)}/approvals?deep=true` },
  ],
  decideApproval: (target) =>
    ["allow", "deny"].map((decision) => ({
      path: `${session(target)}/approvals/${target.approvalId}`,
      body: { decision },
    })),
  answerCall: (target) => [
    { path: `${session(target)}/answers`, body: { callId: target.callId, output: "x" } },
    { path: `${session(target)}/answers`, body: { callId: target.callId, error: "x" } },
  ],
  watchSession: (target) => [
    { path: `${session(target)}/events`, headers: { accept: "text/event-stream" } },
    { path: `${session(target)}/events`, headers: { accept: "application/json" } },
    { path: `${session(target)}/events?cursor=${encodeURIComponent(target.cursor)}` },
    { path: `${session(target)}/events`, headers: { "last-event-id": target.cursor } },
    { path: `${session(target)}/events?ticket=${target.tickets["events"] ?? "none"}` },
  ],
  watchSessions: ({ id, cursor }) => [
    { path: "/v1/events", body: { sessions: [{ id }], children: true } },
    { path: "/v1/events", body: { sessions: [{ id, cursor }] } },
  ],
  getSnapshot: (target) => [{ path: `${session(target)}/snapshot` }],
  listItems: (target) => [{ path: `${session(target)}/items` }],
  uploadBlob: (target) => [{ path: `${session(target)}/blobs`, method: "POST", bytes: "x" }],
  readBlob: (target) => [
    { path: `${session(target)}/blobs/${target.hash}` },
    { path: `${session(target)}/blobs/${target.hash}?ticket=${target.tickets["blob"] ?? "none"}` },
  ],
  createTicket: ({ id, hash }) => [
    { path: "/v1/tickets", body: { sessionId: id, use: "events" } },
    { path: "/v1/tickets", body: { sessionId: id, use: "blob", hash } },
  ],
  aiSdkSend: aiSdkSend("/ai-sdk"),
  aiSdkMessages: readable("/ai-sdk/{id}"),
  aiSdkResume: readable("/ai-sdk/{id}/stream"),
  aiSdkSendV6: aiSdkSend("/ai-sdk-v6"),
  aiSdkMessagesV6: readable("/ai-sdk-v6/{id}"),
  aiSdkResumeV6: readable("/ai-sdk-v6/{id}/stream"),
  aiSdkSendV5: aiSdkSend("/ai-sdk-v5"),
  aiSdkMessagesV5: readable("/ai-sdk-v5/{id}"),
  aiSdkResumeV5: readable("/ai-sdk-v5/{id}/stream"),
  agUiRun: ({ id, approvalId, callId }) => {
    const path = "/ag-ui";
    const run = { threadId: id, runId: "r", messages: [] };
    const payload = { approved: true };
    const resume = [{ interruptId: approvalId, status: "resolved", payload }];
    const result = { id: "t", role: "tool", toolCallId: callId, content: "x" };
    return [
      { path, body: { ...run, messages: [{ id: "m", role: "user", content: "x" }] } },
      { path, body: run },
      { path, body: { ...run, resume } },
      { path, body: { ...run, messages: [result] } },
    ];
  },
  agUiMessages: readable("/ag-ui/{id}"),
  openaiRespond: ({ id, approvalId, callId, response }) => {
    const path = "/openai/v1/responses";
    const approval = { approval_request_id: approvalId, approve: true };
    return [
      { path, body: { conversation: id, input: "x" } },
      { path, body: { conversation: id, input: [{ type: "mcp_approval_response", ...approval }] } },
      {
        path,
        body: {
          conversation: id,
          input: [{ type: "function_call_output", call_id: callId, output: "x" }],
        },
      },
      { path, body: { previous_response_id: response, input: "x" } },
    ];
  },
  openaiGetResponse: ({ response }) => [
    { path: `/openai/v1/responses/${response}` },
    { path: `/openai/v1/responses/${response}?stream=true` },
  ],
  openaiCancelResponse: ({ response }) => [
    { path: `/openai/v1/responses/${response}/cancel`, body: {} },
  ],
  openaiInputItems: ({ response }) => [{ path: `/openai/v1/responses/${response}/input_items` }],
  openaiComplete: ({ id, callName }) => {
    const path = "/openai/v1/chat/completions";
    const headers = { "millrace-session": id };
    return [
      { path, headers, body: { messages: [{ role: "user", content: "x" }] } },
      { path, body: { messages: [{ role: "tool", tool_call_id: callName, content: "x" }] } },
    ];
  },
  openaiModels: () => [{ path: "/openai/v1/models" }],
  health: () => [{ path: "/v1/health" }],
  ready: () => [{ path: "/v1/ready" }],
  openapi: () => [{ path: "/v1/openapi.json" }],
};

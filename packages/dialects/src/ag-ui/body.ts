import type { Json, JsonObject } from "@millrace/core";
import { isJsonObject, parseJson } from "@millrace/core/wire";
import { Problem } from "@millrace/server/dialect";
import type { PageAnswer } from "../shared/page-answer.ts";

/** A message as a page sends it, of the shape that the route checks. */
export type SentMessage = JsonObject & {
  readonly id: string;
  readonly role: "user" | "assistant" | "tool" | "reasoning" | "activity" | "system" | "developer";
};

/** `RunAgentInput`, of the shape that the route checks. */
export interface RunBody {
  readonly threadId: string;
  readonly runId: string;
  readonly messages: readonly SentMessage[];
  readonly protocolVersion?: string;
  readonly parentRunId?: string;
  readonly state?: Json;
  readonly tools?: readonly JsonObject[];
  readonly context?: readonly JsonObject[];
  readonly forwardedProps?: Json;
  readonly resume?: readonly ResumeEntry[];
}

interface ResumeEntry {
  readonly interruptId: string;
  readonly status: "resolved" | "cancelled";
  readonly payload?: Json;
}

/** A message of a person, and where it stands in the body. */
export interface NewMessage {
  readonly message: SentMessage;
  readonly pointer: string;
}

/** What people wrote last: after all that the page holds of replies. */
export function lastUserMessages(messages: readonly SentMessage[]): readonly NewMessage[] {
  const last = messages.findLastIndex(({ role }) => role !== "user");
  const { role } = messages[last] ?? {};
  if ((role === "system" || role === "developer") && last === messages.length - 1) {
    const detail = `the instructions are the server's: send no last message with the role ${role}`;
    throw new Problem("invalid_request", detail, { pointer: `/messages/${last}` });
  }
  return messages
    .slice(last + 1)
    .map((message, at) => ({ message, pointer: `/messages/${last + 1 + at}` }));
}

/** Why a message is for the run that is on. Left out: it begins one. */
export type InputKind = "prompt" | "steer" | "follow_up";

/** What the page asks for beside its messages. What nothing here would read is refused, never ignored. */
export function kindOf({ state, context = [], forwardedProps = {} }: RunBody): InputKind {
  const refuse = (pointer: string, detail: string): never => {
    throw new Problem("invalid_request", detail, { pointer });
  };
  if (context.length > 0)
    refuse("/context", "a session takes no context beside its messages: say it in the message");
  if (!isEmpty(state)) refuse("/state", "a session has no state beside its messages: send none");
  if (!isJsonObject(forwardedProps))
    return refuse("/forwardedProps", "forwardedProps is an object");
  const { kind = "prompt", ...others } = forwardedProps;
  const [other] = Object.keys(others);
  if (other !== undefined)
    refuse(`/forwardedProps/${other}`, "forwardedProps may have `kind`, and nothing else is read");
  if (kind !== "prompt" && kind !== "steer" && kind !== "follow_up")
    return refuse("/forwardedProps/kind", "kind is prompt, steer or follow_up");
  return kind;
}

/** Throws for a tool of the page that the agent has not: its model would never call it. */
export function refuseUnknownTools({ tools = [] }: RunBody, known: ReadonlySet<string>): void {
  const at = tools.findIndex(({ name }) => typeof name !== "string" || !known.has(name));
  if (at < 0) return;
  const name = JSON.stringify(tools[at]?.["name"]);
  const detail = `the agent has no tool ${name} for clients: define it there with run: "client"`;
  throw new Problem("invalid_request", detail, { pointer: `/tools/${at}` });
}

function isEmpty(state: Json | undefined): boolean {
  return (
    state === undefined ||
    state === null ||
    (isJsonObject(state) && Object.keys(state).length === 0)
  );
}

/** What a page answers: questions by `resume`, and calls by messages, under the names that it has for them. */
export function pageAnswersOf({ resume = [], messages }: RunBody): readonly PageAnswer[] {
  const decisions = resume.map((entry, at): PageAnswer => {
    const { interruptId: approvalId, status, payload } = entry;
    if (status === "cancelled")
      return { kind: "decision", approvalId, approved: false, reason: undefined };
    const { approved, reason, ...others } = isJsonObject(payload) ? payload : {};
    const isReason = reason === undefined || typeof reason === "string";
    if (typeof approved !== "boolean" || !isReason || Object.keys(others).length > 0) {
      const detail = "an answer is { approved: boolean, reason?: string }";
      throw new Problem("invalid_request", detail, { pointer: `/resume/${at}/payload` });
    }
    return { kind: "decision", approvalId, approved, reason };
  });
  return [...decisions, ...messages.flatMap(resultOf)];
}

/** What the page's message says that a call came to. */
function resultOf(
  message: SentMessage,
  at: number,
): readonly Extract<PageAnswer, { kind: "output" }>[] {
  const { role, toolCallId, content, error } = message;
  if (role !== "tool" || typeof toolCallId !== "string") return [];
  const kind = "output";
  if (typeof error === "string") return [{ kind, toolCallId, answer: { error } }];
  if (typeof content === "string") {
    // Read when it is used: a page sends all of its results with each request, and few are new.
    return [
      {
        kind,
        toolCallId,
        get answer() {
          return { output: outputOf(content) };
        },
      },
    ];
  }
  const detail = "the result of a tool is text, which may be JSON";
  throw new Problem("invalid_request", detail, { pointer: `/messages/${at}/content` });
}

/** A result: what is JSON is meant as JSON. */
function outputOf(content: string): Json {
  const parsed = parseJson(content);
  return parsed.ok ? parsed.value : content;
}

/** What messages of AG-UI hold, as `writtenParts` says it: each part of a reply is one, and a result comes after its call. */
export function heldMessages(messages: readonly AgUiHeld[]): readonly string[] {
  return messages.flatMap((message) => {
    const { role, content, toolCalls, activityType } = message;
    if (role === "reasoning") return [`reasoning ${String(content)}`];
    if (role === "activity") return [saidActivity(String(activityType), content as AgUiContent)];
    if (role !== "assistant") return [];
    if (toolCalls === undefined) return [`text ${String(content)}`];
    return toolCalls.map((call) => saidCall(call, messages));
  });
}

/** A message of AG-UI, as far as it is looked at here. */
interface AgUiHeld {
  readonly role: string;
  readonly content?: unknown;
  readonly toolCallId?: string;
  readonly activityType?: string;
  readonly metadata?: { readonly millrace?: { readonly status?: string } };
  readonly toolCalls?: readonly AgUiCall[];
}

interface AgUiCall {
  readonly id: string;
  readonly metadata?: { readonly millrace?: { readonly callId?: string } };
  readonly function: { readonly name: string; readonly arguments: string };
}

type AgUiContent = Readonly<Record<string, unknown>>;

function saidActivity(type: string, content: AgUiContent): string {
  return type === "file"
    ? `file ${String(content["mediaType"])} ${String(content["url"]).replace(/^.*,/, "")}`
    : `${type} ${JSON.stringify(content["value"])}`;
}

function saidCall(call: AgUiCall, messages: readonly AgUiHeld[]): string {
  const { id, function: asked } = call;
  const result = messages.find(({ toolCallId }) => toolCallId === id);
  const { status } = result?.metadata?.millrace ?? {};
  const state =
    result === undefined
      ? "none"
      : status === undefined
        ? "output-available"
        : status === "denied"
          ? "output-denied"
          : "output-error";
  const text = String(result?.content);
  const came = state === "output-available" ? asJson(text) : result?.content;
  return `${asked.name} ${call.metadata?.millrace?.callId} ${asked.arguments} ${state} ${state === "output-denied" ? "" : String(came)}`;
}

/** A text that is JSON as it is written by us, any other as a string. */
function asJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return JSON.stringify(text);
  }
}

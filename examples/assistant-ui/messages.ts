// An item of a session as a message of assistant-ui.
import type { ThreadMessageLike } from "@assistant-ui/react";
import type { ClientSession } from "@millrace/client";

type Item = ClientSession["items"][number];
type Part = Item["parts"][number];
type Call = Extract<Part, { readonly kind: "tool_call" }>;
type MessagePart = Exclude<ThreadMessageLike["content"], string>[number];

/** The message of an item. An item that did not change is the same object, and is not converted again. */
export function messageOf(item: Item): ThreadMessageLike {
  const content = item.parts.flatMap(partOf);
  return item.author === "user"
    ? { id: item.id, role: "user", content }
    : { id: item.id, role: "assistant", content, status: statusOf(item) };
}

function partOf(part: Part): readonly MessagePart[] {
  switch (part.kind) {
    case "text":
    case "reasoning":
      return [{ type: part.kind, text: part.text }];
    case "tool_call":
      return [callOf(part)];
    case "media":
    case "file":
    case "structured":
    case "custom":
      return [{ type: "data", name: part.kind, data: part }]; // the page shows it: see `Data`
    case "opaque":
      return []; // of a vendor, for the vendor
    default:
      part satisfies never; // a new kind does not compile until it is handled here
      return [];
  }
}

/** A call with what it came to. Half-written arguments are parsed by assistant-ui. */
function callOf(part: Call): MessagePart {
  const call = {
    type: "tool-call",
    toolCallId: part.callId,
    toolName: part.tool,
    argsText: part.raw,
    ...(part.input !== undefined && { args: part.input }),
  } as const;
  switch (part.state) {
    case "writing":
      return call;
    case "waiting":
      return part.approvalId === undefined ? call : { ...call, approval: { id: part.approvalId } };
    case "running":
      return { ...call, artifact: { message: part.message, text: part.text } };
    case "finished":
      return { ...call, result: part.output };
    case "denied":
      return { ...call, isError: true, result: `denied${part.reason ? `: ${part.reason}` : ""}` };
    case "failed":
    case "unknown":
      return { ...call, isError: true, result: part.message };
    default:
      part satisfies never;
      return call;
  }
}

function statusOf({ live, parts, stop, cause }: Item): NonNullable<ThreadMessageLike["status"]> {
  const calls = parts.filter((part) => part.kind === "tool_call");
  const states = new Set(calls.map(({ state }) => state));
  if (calls.some((call) => call.state === "waiting" && call.approvalId !== undefined))
    return { type: "requires-action", reason: "interrupt" };
  if (live || states.has("writing") || states.has("waiting") || states.has("running"))
    return { type: "running" };
  const error = cause?.message ?? "";
  switch (stop) {
    case "aborted":
      return { type: "incomplete", reason: "cancelled" };
    case "failed":
    case "truncated":
      return { type: "incomplete", reason: "error", error };
    case "length":
      return { type: "incomplete", reason: "length" };
    case "filtered":
      return { type: "incomplete", reason: "content-filter" };
    default:
      return { type: "complete", reason: "stop" };
  }
}

// A session's view as messages of the AI SDK, which AI Elements and other components for `useChat` take.
import { previewOf } from "@millrace/client";
import type { ClientSession } from "@millrace/client";
import type { UIMessage } from "ai";

type Item = ClientSession["items"][number];
type Part = Item["parts"][number];
type Call = Extract<Part, { readonly kind: "tool_call" }>;
type UiPart = UIMessage["parts"][number];

/** Where the page reads a file that the session names by its hash. */
export type BlobUrl = (hash: string) => string;

/** The messages of a session: what a person sent, and as one message what was written to answer it. */
export function messagesOf(items: readonly Item[], blobUrl: BlobUrl): readonly UIMessage[] {
  const messages: UIMessage[] = [];
  for (const { id, author, parts } of items) {
    const shown = parts.flatMap((part) => partOf(part, blobUrl));
    const last = messages.at(-1);
    if (author === "user") messages.push({ id, role: "user", parts: shown.map(withoutState) });
    else if (last?.role === "assistant") last.parts.push({ type: "step-start" }, ...shown);
    else messages.push({ id, role: "assistant", parts: [{ type: "step-start" }, ...shown] });
  }
  return messages;
}

/** What a person sent is never being written. */
function withoutState(part: UiPart): UiPart {
  return part.type === "text" ? { type: "text", text: part.text } : part;
}

function partOf(part: Part, blobUrl: BlobUrl): readonly UiPart[] {
  switch (part.kind) {
    case "text":
    case "reasoning":
      return [{ type: part.kind, text: part.text, state: part.live ? "streaming" : "done" }];
    case "tool_call":
      return [{ type: `tool-${part.tool}`, toolCallId: part.callId, ...callOf(part) }];
    case "media":
    case "file":
      return fileOf(part, blobUrl);
    case "structured":
    case "custom": {
      const name = part.kind === "custom" ? part.name : part.kind;
      return part.value === undefined ? [] : [{ type: `data-${name}`, data: part.value }];
    }
    case "opaque":
      return []; // of a vendor, for the vendor
    default:
      part satisfies never; // a new kind does not compile until it is handled here
      return [];
  }
}

/** The states of AI Elements' tool card and of its confirmation. */
function callOf(part: Call): StateOfCall {
  const { input } = part;
  switch (part.state) {
    case "writing":
      return { state: "input-streaming", input: previewOf(part) };
    case "waiting":
      return part.approvalId === undefined
        ? { state: "input-available", input }
        : { state: "approval-requested", input, approval: { id: part.approvalId } };
    case "running":
      return { state: "input-available", input };
    case "finished":
      return { state: "output-available", input, output: part.output };
    case "denied": {
      // It is answered, so its id names no question any more.
      const why = part.reason === undefined ? {} : { reason: part.reason };
      return { state: "output-denied", input, approval: { id: "", approved: false, ...why } };
    }
    case "failed":
    case "unknown":
      // Arguments that are no valid input are shown as they were written.
      return { state: "output-error", errorText: part.message, input: input ?? part.raw };
    default:
      part satisfies never;
      return { state: "input-available", input };
  }
}

/** What a part of a call has beside its name and id. */
type StateOfCall =
  Extract<UiPart, { readonly type: `tool-${string}` }> extends infer P
    ? P extends unknown
      ? Omit<P, "type" | "toolCallId">
      : never
    : never;

/** A file once its bytes are there. */
function fileOf(
  part: Extract<Part, { readonly kind: "media" | "file" }>,
  blobUrl: BlobUrl,
): readonly UiPart[] {
  const { mediaType, blob, bytes } = part;
  const data = bytes && `data:${mediaType};base64,${base64Of(bytes)}`;
  const url = part.url ?? (blob ? blobUrl(blob.hash) : data);
  if (url === undefined) return [];
  const name = part.kind === "file" ? { filename: part.name } : {};
  return [{ type: "file", mediaType, url, ...name }];
}

function base64Of(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

import type { JsonObject, Part } from "@millrace/core";
import { encodeBase64, isJsonObject } from "@millrace/core/wire";
import { urlOf } from "../../shared/encode/file-url.ts";
import type { BlobUrl } from "../../shared/encode/file-url.ts";
import type { UserItem } from "../../shared/encode/turns.ts";
import type { AgUiMessage, UserContent } from "./events.ts";

/** The field of a part's metadata in which a message of a page is named as that page names it. */
export const messageField = "agUi";

type UserMessage = Extract<AgUiMessage, { role: "user" }>;

/** How a page named the message that begins with this part. */
export interface MessageName {
  readonly id: string;
  readonly name?: string;
  readonly metadata?: JsonObject;
}

/** The name of the message that begins with this part. Undefined: it begins none that a page named. */
function nameOfMessage(part: Part | undefined): MessageName | undefined {
  const named =
    part !== undefined && "metadata" in part ? part.metadata?.[messageField] : undefined;
  if (!isJsonObject(named) || typeof named["id"] !== "string") return undefined;
  return named as unknown as MessageName; // no one else writes this field
}

/** What a person sent, as messages: several if their page sent several at once. */
export function userMessages({ id, parts }: UserItem, blobUrl: BlobUrl): readonly UserMessage[] {
  const groups: { readonly named: MessageName; readonly parts: Part[] }[] = [];
  for (const part of parts) {
    const named = nameOfMessage(part) ?? (groups.length === 0 ? { id } : undefined);
    if (named !== undefined) groups.push({ named, parts: [part] });
    else groups.at(-1)?.parts.push(part);
  }
  return groups.map((group) => ({
    ...group.named,
    role: "user",
    content: contentOf(group.parts, blobUrl),
  }));
}

function contentOf(parts: readonly Part[], blobUrl: BlobUrl): UserMessage["content"] {
  const content = parts.flatMap((part) => userContent(part, blobUrl));
  const [first] = content;
  return content.length === 1 && first?.type === "text" ? first.text : content;
}

/** A part of a person's message. What it can't say is left out. */
function userContent(part: Part, blobUrl: BlobUrl): readonly UserContent[] {
  switch (part.kind) {
    case "text":
      return [{ type: "text", text: part.text }];
    case "media":
    case "file": {
      const { mediaType: mimeType, bytes } = part;
      const source =
        bytes === undefined
          ? ({ type: "url", value: urlOf(part, blobUrl) ?? "", mimeType } as const)
          : ({ type: "data", value: encodeBase64(bytes), mimeType } as const);
      const name = part.kind === "file" ? { metadata: { filename: part.name } } : {};
      return [{ type: familyOf(mimeType), source, ...name }];
    }
    case "structured":
    case "custom":
      return [{ type: "text", text: JSON.stringify(part.value) }];
    case "reasoning":
    case "tool_call":
    case "tool_result":
    case "opaque":
      return [];
    default:
      part satisfies never;
      return [];
  }
}

function familyOf(mimeType: string): "image" | "audio" | "video" | "document" {
  const [family] = mimeType.split("/", 1);
  return family === "image" || family === "audio" || family === "video" ? family : "document";
}

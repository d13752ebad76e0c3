import { encodeBase64, isJsonObject } from "@millrace/core/wire";
import type { FilePart, Json, MediaPart } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import type { RequestRefusal } from "../protocols/refusal.ts";
import { wireNamesOf } from "../protocols/tool-names.ts";

/**
 * Types that a vendor takes as bytes or by an address, by its documentation. Written apart from the
 * encoders, so that these can't refuse what is taken.
 */
const taken: Readonly<Record<string, { readonly bytes: RegExp; readonly url: RegExp }>> = {
  "openai-chat": {
    bytes: /^(?:image\/(?:png|jpe?g|gif|webp)|application\/pdf|audio\/(?:wav|mpeg|mp3))$/,
    url: /^https?:.* image\/(?:png|jpe?g|gif|webp|\*)$/,
  },
  "openai-responses": {
    bytes: /^(?:image\/(?:png|jpe?g|gif|webp)|application\/(?:pdf|msword|vnd\.(?!rar).*))$/,
    url: /^https?:.* (?:image\/(?:png|jpe?g|gif|webp|\*)|application\/pdf|text\/.*)$/,
  },
  "anthropic-messages": {
    bytes: /^(?:image\/(?:png|jpe?g|gif|webp)|application\/pdf)$/,
    url: /^https:.* (?:image\/(?:png|jpe?g|gif|webp)|application\/pdf)$/,
  },
  gemini: {
    bytes:
      /^(?:image\/(?:png|jpe?g|webp|heic)|application\/pdf|audio\/(?:wav|mpeg|mp3|ogg)|video\/mp4)$/,
    url: /^(?:https?|gs):.* (?:image\/(?:png|jpe?g|webp)|application\/pdf|audio\/.*|video\/.*|text\/.*)$/,
  },
};

/** True if the vendor's documentation names a form for the part, or its bytes are text. */
export function isTaken(protocol: string, part: MediaPart | FilePart): boolean {
  const rule = taken[protocol];
  const [type = ""] = part.mediaType.toLowerCase().split(";");
  if (rule === undefined) return false;
  if (part.bytes === undefined) {
    // The bytes in a data URL are judged by their own test.
    return !part.url.startsWith("data:") && rule.url.test(`${part.url} ${type.trim()}`);
  }
  if (rule.bytes.test(type.trim())) return part.bytes.length > 0;
  return type.startsWith("text/") && isUtf8(part.bytes);
}

function isUtf8(bytes: Uint8Array): boolean {
  return !Buffer.from(bytes).toString("utf8").includes("\uFFFD");
}

/** What of a part can be found in a request: its base64, its text as JSON, its address. */
export function formsOf(part: MediaPart | FilePart): readonly string[] {
  const bytes = part.bytes ?? bytesIn(part.url);
  if (bytes === undefined) return [part.url ?? ""];
  if (bytes.length === 0) return ["<file"];
  const text = Buffer.from(bytes).toString("utf8");
  return [encodeBase64(bytes), JSON.stringify(text).slice(1, -1)];
}

function bytesIn(url: string): Uint8Array | undefined {
  const [, head, body] = /^data:([^,]*),(.*)$/is.exec(url) ?? [];
  if (head === undefined || body === undefined) return undefined;
  return head.endsWith("base64")
    ? Buffer.from(body, "base64")
    : Buffer.from(decodeURIComponent(body));
}

/** The request without what was refused, or what is wrong with the refusal. */
export function withoutRefused(
  protocol: string,
  request: ModelRequest,
  { refused: { part, tool }, message }: RequestRefusal,
): ModelRequest | string {
  if (part === undefined) {
    const own = wireNamesOf(request).fromWire.get(tool) ?? tool;
    const tools = (request.tools ?? []).filter(({ name, input }) => {
      return name !== own || fitsAnObject(input);
    });
    const isLess = tools.length < (request.tools?.length ?? 0);
    return isLess ? { ...request, tools } : `refuses the tool ${own} without reason: ${message}`;
  }
  if (isTaken(protocol, part)) return `refuses what the vendor takes: ${message}`;
  if (!message.includes(JSON.stringify(part.mediaType)))
    return `does not name the part: ${message}`;
  const transcript = request.transcript.map((item) =>
    item.parts.includes(part)
      ? { ...item, parts: item.parts.filter((each) => each !== part) }
      : item,
  );
  const isLess = transcript.some((item, at) => item !== request.transcript[at]);
  return isLess ? { ...request, transcript } : `refuses a part that is not there: ${message}`;
}

/** For the schemas of the generators: by the type at the top. */
function fitsAnObject(input: Json): boolean {
  if (!isJsonObject(input)) return input !== false;
  const { type = "object" } = input as { readonly type?: Json };
  const isEnum = Array.isArray(input["enum"]) && !input["enum"].some(isJsonObject);
  return !isEnum && (Array.isArray(type) ? type.includes("object") : type === "object");
}

import { encodeBase64 } from "@millrace/core/json";
import type { FilePart, MediaPart } from "@millrace/core";

/**
 * Types that a vendor takes as bytes or by an address, by its documentation. Written apart from the
 * encoders, so that these can't refuse what is taken.
 */
const taken: Readonly<Record<string, { readonly bytes: RegExp; readonly url: RegExp }>> = {
  "openai-chat": {
    bytes:
      /^(?:image\/(?:(?:x-)?png|p?jpe?g|gif|webp)|application\/(?:x-)?pdf|audio\/(?:wav|mpeg|mp3))$/,
    url: /^https?:.* image\/(?:(?:x-)?png|p?jpe?g|gif|webp|\*)$|^openai:.* (?:text|application)\//,
  },
  "openai-responses": {
    bytes:
      /^(?:image\/(?:(?:x-)?png|p?jpe?g|gif|webp)|application\/(?:(?:x-)?pdf|msword|vnd\.(?!rar).*))$/,
    url: /^https?:.* (?:image\/(?:(?:x-)?png|p?jpe?g|gif|webp|\*)|application\/(?:x-)?pdf|text\/.*)$|^openai:.* (?:image\/(?:(?:x-)?png|p?jpe?g|gif|webp)$|(?:text|application)\/)/,
  },
  "anthropic-messages": {
    bytes: /^(?:image\/(?:(?:x-)?png|p?jpe?g|gif|webp)|application\/(?:x-)?pdf)$/,
    url: /^https:.* (?:image\/(?:(?:x-)?png|p?jpe?g|gif|webp)|application\/(?:x-)?pdf)$|^anthropic:/,
  },
  "bedrock-converse": {
    bytes:
      /^(?:image\/(?:(?:x-)?png|p?jpe?g|gif|webp)|application\/(?:(?:x-)?pdf|msword|vnd\.ms-excel|vnd\.openxmlformats-officedocument\.(?:wordprocessingml|spreadsheetml)\..*)|audio\/(?:wav|mpeg|mp3|ogg)|video\/mp4)$/,
    url: /^s3:.* (?:image\/(?:(?:x-)?png|p?jpe?g|gif|webp)|application\/(?:x-)?pdf|video\/mp4|text\/.*)$/,
  },
  gemini: {
    bytes:
      /^(?:image\/(?:(?:x-)?png|p?jpe?g|webp|heic)|application\/(?:x-)?pdf|audio\/(?:wav|mpeg|mp3|ogg)|video\/mp4)$/,
    url: /^(?:https?|gs):.* (?:image\/(?:(?:x-)?png|p?jpe?g|webp)|application\/(?:x-)?pdf|audio\/.*|video\/(?!mp2t).*|text\/.*)$/,
  },
};

/** True if the vendor's documentation names a form for the part, or its bytes are text. */
export function isTaken(protocol: string, part: MediaPart | FilePart): boolean {
  const rule = taken[protocol];
  const [type = ""] = part.mediaType.toLowerCase().split(";");
  if (rule === undefined) return false;
  const bytes = part.bytes ?? bytesIn(part.url ?? "");
  if (bytes === undefined) return rule.url.test(`${part.url} ${type.trim()}`);
  if (rule.bytes.test(type.trim())) return bytes.length > 0;
  return type.startsWith("text/") && !part.mediaType.includes("charset") && isUtf8(bytes);
}

function isUtf8(bytes: Uint8Array): boolean {
  return !Buffer.from(bytes).toString("utf8").includes("\uFFFD");
}

/** What of a part can be found in a request: its base64, its text as JSON, its address. */
export function formsOf(part: MediaPart | FilePart): readonly string[] {
  const bytes = part.bytes ?? bytesIn(part.url ?? "");
  // Of a file that a vendor keeps, its id.
  if (bytes === undefined) return [(part.url ?? "").replace(/^(?:openai|anthropic):/, "")];
  if (bytes.length === 0) return ["<file"];
  const text = Buffer.from(bytes).toString("utf8");
  return [encodeBase64(bytes), JSON.stringify(text).slice(1, -1)];
}

function bytesIn(url: string): Uint8Array | undefined {
  const [, head, body] = /^data:([^,]*),(.*)$/is.exec(url) ?? [];
  if (head === undefined || body === undefined) return undefined;
  return head.endsWith("base64")
    ? Buffer.from(body, "base64")
    : Buffer.from(unescaped(body), "latin1");
}

/** Each escape is one byte, which need not be a character of UTF-8. */
function unescaped(text: string): string {
  return text.replaceAll(/%([\da-f]{2})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

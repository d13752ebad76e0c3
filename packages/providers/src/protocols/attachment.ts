import { decodeBase64 } from "@millrace/core/json";
import type { FilePart, MediaPart } from "@millrace/core";
import { RequestRefusal } from "./refusal.ts";
import { declaredType, sniffedType } from "./media-type.ts";

/** Media or a file in the form that encoders work with: what it is, and its bytes or its address. */
export type Attachment = {
  readonly part: MediaPart | FilePart;
  /** In lower case, without parameters, in the spelling of vendors. */
  readonly type: string;
  /** The `charset` of the media type. */
  readonly charset: string | undefined;
} & (
  | { readonly bytes: Uint8Array; readonly url?: never }
  | { readonly url: string; readonly bytes?: never }
);

/** What a vendor takes, in the words of a refusal. */
export interface Vendor {
  readonly name: string;
  /** For example `PDF, PNG and text`. */
  readonly takes: string;
}

/**
 * Reads a part. A `data:` URL becomes its bytes: sent as it is, it would be read as text or refused.
 * The type of an image is that of its first bytes, because vendors refuse an image of another type
 * than the one declared.
 */
export function attachmentOf(part: MediaPart | FilePart, vendor: Vendor): Attachment {
  const name = part.kind === "file" ? part.name : "";
  if (part.bytes !== undefined) {
    return { part, bytes: part.bytes, ...typeOf(part.mediaType, name, part.bytes) };
  }
  if (part.blob !== undefined) {
    throw refusalOf(part, vendor, "its bytes are in a blob store: read them and pass bytes");
  }
  if (!/^data:/i.test(part.url)) {
    return { part, url: part.url, ...typeOf(part.mediaType, name) };
  }
  const { mediaType, bytes } = decodeDataUrl(part.url);
  if (bytes === undefined) {
    throw refusalOf(
      part,
      vendor,
      "its data: URL can't be decoded: check its base64, or pass bytes",
    );
  }
  const given = mediaType === "" ? part.mediaType : mediaType;
  return { part, bytes, ...typeOf(given, name, bytes) };
}

function typeOf(
  mediaType: string,
  name: string,
  bytes?: Uint8Array,
): Pick<Attachment, "type" | "charset"> {
  const { type, charset } = declaredType(mediaType, name);
  const isOpen = type === "" || type.startsWith("image/");
  return { type: (isOpen && bytes && sniffedType(bytes)) || type, charset };
}

const dataUrl = /^data:([^,]*),(.*)$/is;

/** The media type and the bytes of a `data:` URL. No bytes if it is not well-formed. */
function decodeDataUrl(url: string): { mediaType: string; bytes: Uint8Array | undefined } {
  const [, head = "", body] = dataUrl.exec(url) ?? [];
  const isBase64 = /;\s*base64\s*$/i.test(head);
  const mediaType = head.replace(/;\s*base64\s*$/i, "");
  if (body === undefined) return { mediaType, bytes: undefined };
  if (!isBase64) return { mediaType, bytes: percentDecoded(body) };
  const text = body.includes("%") ? textOfBytes(percentDecoded(body), undefined) : body;
  const plain = text?.replaceAll(/\s/g, "").replaceAll("-", "+").replaceAll("_", "/");
  const unpadded = plain?.replace(/=+$/, "");
  if (unpadded === undefined) return { mediaType, bytes: undefined };
  return { mediaType, bytes: decodeBase64(unpadded + "=".repeat(-unpadded.length & 3)) };
}

function percentDecoded(text: string): Uint8Array | undefined {
  const bytes = new TextEncoder().encode(text);
  const decoded: number[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] !== 0x25) decoded.push(bytes[at] ?? 0);
    else {
      const code = String.fromCharCode(bytes[at + 1] ?? 0, bytes[at + 2] ?? 0);
      if (!/^[\da-f]{2}$/i.test(code)) return undefined;
      decoded.push(Number.parseInt(code, 16));
      at += 2;
    }
  }
  return Uint8Array.from(decoded);
}

/**
 * The text of an attachment, for vendors that take it in no other form. Undefined if its bytes are no
 * text. Bytes of a type that is not known as text are text if they have no control characters: there
 * are more types of code and data than any list has.
 */
export function textOf({ bytes, type, charset }: Attachment): string | undefined {
  if (bytes === undefined) return undefined;
  const text = textOfBytes(bytes, charset);
  if (text === undefined || isTextType(type)) return text;
  return text === "" || unprintable.test(text) ? undefined : text;
}

// oxlint-disable-next-line no-control-regex -- these are the characters that binary data has and text has not
const unprintable = /[\u0000-\u0008\u000b\u000e-\u001a\u001c-\u001f\ufffe\uffff]/;

/** Decodes bytes by their charset, or by their byte order mark, or as UTF-8. */
function textOfBytes(
  bytes: Uint8Array | undefined,
  charset: string | undefined,
): string | undefined {
  if (bytes === undefined) return undefined;
  const [first, second] = bytes;
  const little = first === 0xff && second === 0xfe;
  const big = first === 0xfe && second === 0xff;
  const marked = little ? "utf-16le" : big ? "utf-16be" : "utf-8";
  try {
    return new TextDecoder(charset ?? marked, { fatal: true }).decode(bytes);
  } catch {
    return undefined; // not text in this charset, or a charset that is not known
  }
}

/** True for types that are text whatever their bytes are. */
export function isTextType(type: string): boolean {
  return /^(?:text\/.*|message\/rfc822|application\/(?:json|xml|yaml|javascript|typescript|rtf)|.*\+(?:json|xml|yaml))$/.test(
    type,
  );
}

/** The text of a file with its name around it, for vendors without a form for text files. */
export function inlined({ part, type }: Attachment, text: string): string {
  const name = nameOf(part);
  const label = name === "" ? "" : ` name=${JSON.stringify(name)}`;
  const sort = type === "" ? "" : ` type=${JSON.stringify(type)}`;
  return `<file${label}${sort}>\n${text}\n</file>`.toWellFormed();
}

/** The name of a file. Empty for media, which have none. */
export function nameOf(part: MediaPart | FilePart): string {
  return part.kind === "file" ? part.name.trim().toWellFormed() : "";
}

/** The id of a file that a vendor keeps, whose address is such as `openai:file-abc`. */
export function fileIdOf({ url }: Attachment, keeper: "openai" | "anthropic"): string | undefined {
  const [, found, id] = keptFile.exec(url ?? "") ?? [];
  return found === keeper ? id : undefined;
}

const keptFile = /^(openai|anthropic):([\w-]+)$/;

/** The refusal of an attachment that has no form in a vendor's requests, with what to do. */
export function refuse(given: Attachment, vendor: Vendor): RequestRefusal {
  return refusalOf(given.part, vendor, reasonOf(given, vendor));
}

function reasonOf({ bytes, url, type }: Attachment, { takes }: Vendor): string {
  if (keptFile.test(url ?? "")) {
    return `the file is kept by its vendor, and can't be read so here: upload it to this one, or pass its bytes; taken are ${takes}`;
  }
  if (url !== undefined) {
    return `it is not fetched as this type from that address: fetch it yourself and pass its bytes; taken are ${takes}`;
  }
  if (bytes.length === 0) return "it has no bytes: leave it out";
  if (isTextType(type)) {
    return "its bytes are no UTF-8 text: name their charset in the media type, such as text/plain; charset=iso-8859-1";
  }
  return `taken are ${takes}: convert it, or replace it in the hook beforeReply`;
}

function refusalOf(part: MediaPart | FilePart, { name }: Vendor, reason: string): RequestRefusal {
  const what =
    part.kind === "file" ? `the file ${JSON.stringify(part.name.slice(0, 80))}` : "media";
  const length = part.bytes?.length ?? part.blob?.size;
  const size = length === undefined ? addressOf(part.url ?? "") : `${length} bytes`;
  const type = JSON.stringify(part.mediaType.slice(0, 80));
  return new RequestRefusal(`${name} does not take ${what} (${type}, ${size}): ${reason}`, {
    part,
  });
}

/** Without its query, which may hold a key. */
function addressOf(url: string): string {
  return /^data:/i.test(url)
    ? "a data: URL"
    : JSON.stringify(url.replace(/[?#].*$/s, "").slice(0, 120));
}

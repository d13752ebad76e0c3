import { partId } from "@millrace/core/writing";
import type { FilePart, MediaPart } from "@millrace/core";
import type { Random } from "../../../../../tests/kit/random.ts";
import type { Marks } from "./marks.ts";

/** A kind of file: its media types, in the spellings that programs use, and its bytes around a mark. */
interface Sort {
  readonly types: readonly string[];
  readonly extension: string;
  readonly bytes: (mark: string) => Uint8Array;
}

const ascii = (text: string): Uint8Array => Buffer.from(text, "latin1");
const behind =
  (head: string) =>
  (mark: string): Uint8Array =>
    ascii(`${head}${mark}\u0000\u0001`);
const lines = (mark: string): Uint8Array => ascii(`first;line\n${mark};2\n`);
const office = "application/vnd.openxmlformats-officedocument";

function sort(types: string, extension: string, bytes: Sort["bytes"]): Sort {
  return { types: types.split(" "), extension, bytes };
}

const sorts: readonly Sort[] = [
  sort(
    "image/png IMAGE/PNG image/x-png image/png;charset=binary",
    "png",
    behind("\u0089PNG\r\n\u001a\n"),
  ),
  sort("image/jpeg image/jpg Image/JPG image/pjpeg", "jpg", behind("\u00ff\u00d8\u00ff\u00e0")),
  sort("image/gif", "gif", behind("GIF89a\u0001")),
  sort("image/webp", "webp", behind("RIFF\u0001\u0000\u0000\u0000WEBPVP8 ")),
  sort("image/heic image/bmp image/tiff", "heic", behind("\u0000\u0000\u0000\u0018ftypheic")),
  sort("image/svg+xml", "svg", (mark) => ascii(`<svg><text>${mark}</text></svg>`)),
  sort(
    "application/pdf application/x-pdf Application/PDF",
    "pdf",
    behind("%PDF-1.7\n\u00e2\u00e3"),
  ),
  sort("audio/wav audio/x-wav audio/wave", "wav", behind("RIFF\u0001\u0000\u0000\u0000WAVE")),
  sort("audio/mpeg audio/mp3", "mp3", behind("ID3\u0004\u0000")),
  sort("audio/ogg audio/flac audio/aac", "ogg", behind("OggS\u0000\u0002")),
  sort("video/mp4 video/webm video/quicktime", "mp4", behind("\u0000\u0000\u0000\u0018ftypmp42")),
  sort(
    `${office}.wordprocessingml.document application/octet-stream`,
    "docx",
    behind("PK\u0003\u0004"),
  ),
  sort(`${office}.spreadsheetml.sheet`, "xlsx", behind("PK\u0003\u0004")),
  sort("application/zip application/x-tar", "zip", behind("PK\u0003\u0004")),
  sort("text/plain TEXT/PLAIN text/plain;charset=utf-8 text/plain;charset=us-ascii", "txt", lines),
  sort("text/csv text/tab-separated-values text/csv;header=present", "csv", lines),
  sort("text/markdown text/html text/css text/xml text/x-python", "md", lines),
  sort("application/json application/ld+json application/x-ndjson", "json", (mark) =>
    ascii(`{"a":"${mark}"}`),
  ),
  sort("application/typescript text/javascript application/x-sh video/mp2t", "ts", lines),
  sort("application/yaml application/xml application/sql application/toml", "yaml", lines),
  sort("application/octet-stream", "log", lines),
  sort("text/plain;charset=utf-16le", "txt", (mark) => Buffer.from(`${mark} ü`, "utf16le")),
  sort("text/plain;charset=iso-8859-1", "txt", (mark) => ascii(`${mark} \u00fc`)),
  sort("text/plain", "txt", (mark) => ascii(`\u00ff${mark}`)),
];

/** Draws media or a file of any kind, with a mark in its bytes or its address, and one in its name. */
export function drawAttachment(random: Random, marks: Marks): MediaPart | FilePart {
  const { types, extension, bytes } = random.pick(sorts);
  const mediaType = random.pick(types);
  const first = marks.all.length;
  const source = sourceOf(random, mediaType, marks, bytes);
  const isMedia = /^(?:image|audio|video)\//i.test(mediaType) && random.chance(0.7);
  const base = { id: partId(`p${first}`), mediaType, ...source };
  const part: MediaPart | FilePart = isMedia
    ? { kind: "media", ...base }
    : { kind: "file", name: `${marks.make("the name of a file")}.${extension}`, ...base };
  marks.belongTo(part, first);
  return part;
}

type Source = { readonly bytes: Uint8Array } | { readonly url: string };

function sourceOf(random: Random, type: string, marks: Marks, bytes: Sort["bytes"]): Source {
  const draw = random.next();
  if (draw < 0.2) {
    const scheme = random.pick(["https", "https", "https", "http", "gs", "ftp", "kept", "kept"]);
    const mark = marks.make(`the address of ${type}`);
    // A vendor's own id of a file.
    if (scheme === "kept") return { url: `${random.pick(["openai", "anthropic"])}:file_${mark}` };
    return { url: `${scheme}://files.example/${mark}` };
  }
  const content = bytes(marks.make(`the content of ${type}`));
  if (draw < 0.6) return { bytes: content };
  const base64 = Buffer.from(content).toString("base64");
  const percents = content.reduce(
    (text, byte) => `${text}%${byte.toString(16).padStart(2, "0")}`,
    "",
  );
  return {
    url: random.pick([
      `data:${type};base64,${base64}`,
      `DATA:${type};base64,${base64.replaceAll("=", "")}`,
      `data:${type};base64,${base64.replaceAll("+", "-").replaceAll("/", "_")}`,
      `data:${type};base64,${encodeURIComponent(base64)}`,
      `data:${type},${percents}`,
      `data:;base64,${base64}`,
    ]),
  };
}

/** A media type without its parameters, and the one parameter that encoders need. */
export interface DeclaredType {
  /** In lower case and in the spelling of vendors. Empty if nothing is known of the content. */
  readonly type: string;
  readonly charset: string | undefined;
}

/** Reads a media type. One that names no type in particular is that of the file's extension. */
export function declaredType(mediaType: string, name: string): DeclaredType {
  const [head = "", ...parameters] = mediaType.toLowerCase().split(";");
  const plain = head.trim();
  const type = spellings.get(plain) ?? plain;
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^"\s]+)"?\s*$/.exec(parameter)?.[1])
    .find((found) => found !== undefined);
  const isKnown = /^[^/*]+\/[^/]+$/.test(type);
  return { type: isKnown ? type : (extensions.get(extensionOf(name)) ?? ""), charset };
}

function extensionOf(name: string): string {
  return /\.([a-z\d]+)$/.exec(name.trim().toLowerCase())?.[1] ?? "";
}

const spellings: ReadonlyMap<string, string> = new Map([
  ["image/jpg", "image/jpeg"],
  ["image/pjpeg", "image/jpeg"],
  ["image/x-png", "image/png"],
  ["audio/wave", "audio/wav"],
  ["audio/vnd.wave", "audio/wav"],
  ["application/x-pdf", "application/pdf"],
  ["application/octet-stream", ""],
  ["binary/octet-stream", ""],
]);

const office = "application/vnd.openxmlformats-officedocument";

/** Types of files whose extension is known better than their type. Text needs no row: its bytes show it. */
const extensions: ReadonlyMap<string, string> = new Map([
  ["pdf", "application/pdf"],
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["gif", "image/gif"],
  ["webp", "image/webp"],
  ["mp3", "audio/mpeg"],
  ["wav", "audio/wav"],
  ["mp4", "video/mp4"],
  ["txt", "text/plain"],
  ["md", "text/markdown"],
  ["csv", "text/csv"],
  ["json", "application/json"],
  ["doc", "application/msword"],
  ["docx", `${office}.wordprocessingml.document`],
  ["ppt", "application/vnd.ms-powerpoint"],
  ["pptx", `${office}.presentationml.presentation`],
  ["xls", "application/vnd.ms-excel"],
  ["xlsx", `${office}.spreadsheetml.sheet`],
  ["odt", "application/vnd.oasis.opendocument.text"],
]);

/** Documents of office programs, with the extension that each has. */
export const officeTypes: ReadonlyMap<string, string> = new Map(
  [...extensions].flatMap(([extension, type]): [string, string][] =>
    /msword|vnd\./.test(type) ? [[type, extension]] : [],
  ),
);

/** The type of an image or a PDF by its first bytes. */
export function sniffedType(bytes: Uint8Array): string | undefined {
  const starts = (at: number, ...letters: readonly number[]): boolean =>
    letters.every((letter, offset) => bytes[at + offset] === letter);
  if (starts(0, 0x89, 0x50, 0x4e, 0x47)) return "image/png";
  if (starts(0, 0xff, 0xd8, 0xff)) return "image/jpeg";
  if (starts(0, 0x47, 0x49, 0x46, 0x38)) return "image/gif";
  if (starts(0, 0x52, 0x49, 0x46, 0x46) && starts(8, 0x57, 0x45, 0x42, 0x50)) return "image/webp";
  if (starts(0, 0x25, 0x50, 0x44, 0x46, 0x2d)) return "application/pdf";
  return undefined;
}

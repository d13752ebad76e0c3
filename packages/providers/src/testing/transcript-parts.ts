import { callId, parseArguments, partId } from "@millrace/core/writing";
import type { Json, Part, ToolCallPart } from "@millrace/core";
import type { ArgumentFault } from "@millrace/core/writing";
import type { Random } from "../../../../tests/kit/random.ts";

const id = partId("p");
const bytes = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0]);
const letters = new TextEncoder().encode("name;value\nä;1\n");
const noBytes = new Uint8Array();
const noText = new Uint8Array([0xff, 0xfe, 0x00]);
const noImage = new Uint8Array([0, 0, 0, 24, 102, 116, 121, 112]);
const latin = new TextEncoder().encode("plain");
const zip = new Uint8Array([80, 75, 3, 4, 0, 255]);
const office = "application/vnd.openxmlformats-officedocument";

/** The mark makes each text unique, so that it can be found in a request. */
const phrases: readonly ((mark: string) => string)[] = [
  (mark) => mark,
  (mark) => `${mark} plain words`,
  (mark) => `${mark} ends in white space \n`,
  (mark) => `\n\t ${mark} begins with it`,
  (mark) => `${mark} "quotes" \\ back\\slashes </b> 😀 é 日本語`,
  (mark) => `${mark}\r\nlines\n\n\u2028and more`,
  (mark) => `{"json": "${mark}"}`,
];
const blanks = ["", " ", "\n\n", "\u00a0\u3000"];

const media: readonly Part[] = [
  { kind: "media", id, mediaType: "image/png", bytes },
  { kind: "media", id, mediaType: "image/jpeg", bytes },
  { kind: "media", id, mediaType: "image/gif", bytes },
  { kind: "media", id, mediaType: "image/webp", bytes },
  { kind: "media", id, mediaType: "image/jpg", bytes },
  { kind: "media", id, mediaType: "IMAGE/PNG", bytes },
  { kind: "media", id, mediaType: "image/bmp", bytes },
  { kind: "media", id, mediaType: "image/svg+xml", bytes: letters },
  { kind: "media", id, mediaType: "image/png", bytes: noBytes },
  { kind: "media", id, mediaType: "audio/wav", bytes },
  { kind: "media", id, mediaType: "audio/mpeg", bytes },
  { kind: "media", id, mediaType: "audio/ogg", bytes },
  { kind: "media", id, mediaType: "video/mp4", bytes },
  { kind: "media", id, mediaType: "", bytes },
  { kind: "media", id, mediaType: "image/png; charset=binary", bytes },
  { kind: "media", id, mediaType: "image/heic", bytes: noImage },
  { kind: "media", id, mediaType: "image/*", url: "https://example.com/a" },
  { kind: "media", id, mediaType: "Image/PNG", url: "DATA:image/png;base64,iVBORw" },
  { kind: "media", id, mediaType: "image/png", url: "data:image/png;base64,!" },
  { kind: "media", id, mediaType: "video/mp2t", bytes: letters },
  { kind: "media", id, mediaType: "image/png", url: "https://example.com/a.png" },
  { kind: "media", id, mediaType: "image/png", url: "http://example.com/a.png" },
  { kind: "media", id, mediaType: "image/gif", url: "https://example.com/a.gif" },
  { kind: "media", id, mediaType: "image/png", url: "data:image/png;base64,iVBORw==" },
  { kind: "media", id, mediaType: "image/png", url: "file:///a.png" },
  { kind: "media", id, mediaType: "image/png", url: "" },
  { kind: "media", id, mediaType: "audio/wav", url: "https://example.com/a.wav" },
];
const files: readonly Part[] = [
  { kind: "file", id, name: "a.pdf", mediaType: "application/pdf", bytes },
  { kind: "file", id, name: "", mediaType: "application/pdf", bytes },
  { kind: "file", id, name: "a.pdf", mediaType: "application/pdf", bytes: noBytes },
  { kind: "file", id, name: "n".repeat(600), mediaType: "application/pdf", bytes },
  { kind: "file", id, name: "a.pdf", mediaType: "application/pdf", url: "https://example.com/a" },
  { kind: "file", id, name: "a.pdf", mediaType: "application/pdf", url: "ftp://example.com/a" },
  { kind: "file", id, name: "a.txt", mediaType: "text/plain", bytes: letters },
  { kind: "file", id, name: "a.txt", mediaType: "text/plain", bytes: noText },
  { kind: "file", id, name: "a.txt", mediaType: "text/plain", bytes: noBytes },
  { kind: "file", id, name: "a.txt", mediaType: "text/plain", url: "https://example.com/a" },
  { kind: "file", id, name: "a.md", mediaType: "text/markdown", bytes: letters },
  { kind: "file", id, name: "a.csv", mediaType: "text/csv", bytes: letters },
  { kind: "file", id, name: "a.json", mediaType: "application/json", bytes: letters },
  { kind: "file", id, name: "a.csv", mediaType: "Text/CSV; charset=utf-8", bytes: letters },
  { kind: "file", id, name: "a.txt", mediaType: "text/plain; charset=iso-8859-1", bytes: latin },
  { kind: "file", id, name: "a.ts", mediaType: "application/octet-stream", bytes: letters },
  { kind: "file", id, name: "a.yaml", mediaType: "application/x-yaml", bytes: letters },
  {
    kind: "file",
    id,
    name: "a.docx",
    mediaType: `${office}.wordprocessingml.document`,
    bytes: zip,
  },
  { kind: "file", id, name: "a.xlsx", mediaType: "", bytes: zip },
  { kind: "file", id, name: "a.csv", mediaType: "text/csv", url: "data:text/csv,a%3Bb%0A1%3B2" },
  { kind: "file", id, name: "a.csv", mediaType: "", url: "data:text/csv;base64,YTtiCjE7Mg==" },
  {
    kind: "file",
    id,
    name: "a.pdf",
    mediaType: "application/pdf",
    url: "data:;base64,JVBERi0xLjQ=",
  },
  { kind: "file", id, name: "a.zip", mediaType: "application/zip", bytes: zip },
  { kind: "file", id, name: "a.png", mediaType: "image/png", bytes },
  { kind: "file", id, name: "a.zip", mediaType: "application/zip", url: "https://example.com/a" },
];
const shapes: readonly Part[] = [
  { kind: "structured", id, value: { answer: 1 } },
  { kind: "structured", id, value: null },
  { kind: "structured", id, value: "" },
  { kind: "custom", id, name: "note", value: { text: "a" } },
  { kind: "custom", id, name: "web_search_call", value: null },
  { kind: "opaque", id, original: { kind: "later", id: "p" } },
];
const callIds = ["call_1", "call_2", "toolu_01A", "a.b", "c:1", "ü", " ", `call_${"a".repeat(60)}`];
const tools = ["look", "get_weather", "bash", "a.b", "my tool", "1st", "ü", "", "n".repeat(80)];
const raws = ["{}", "", '{"path":"a"}', '{"n":1e3,"deep":{"list":[1,null,"\\u00e9"]}}'];
const badRaws = ['{"path":', "[]", "nonsense", '"{}"', '{"a":1}{"a":1}'];
const rubbish: readonly Json[] = [null, {}, [], "x", 5, { type: "none", id: 7 }, { id: "" }];

/** Parts of all kinds. Data for a vendor is only made by that vendor's protocol. */
export class TranscriptParts {
  readonly #random: Random;
  #marks = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** A text that is in no other part. */
  words(sort: string): string {
    this.#marks += 1;
    return this.#random.pick(phrases)(`${sort}${this.#marks};`);
  }

  text(sort: string): Part {
    const isBlank = this.#random.chance(0.12);
    return { kind: "text", id, text: isBlank ? this.#random.pick(blanks) : this.words(sort) };
  }

  reasoning(): Part {
    return { kind: "reasoning", id, text: this.words("t") };
  }

  ofUser(): Part {
    const draw = this.#random.next();
    if (draw < 0.7) return this.text("u");
    if (draw < 0.83) return this.#random.pick(media);
    return this.#random.pick(draw < 0.94 ? files : shapes);
  }

  ofModel(): Part {
    return this.#random.pick(this.#random.pick([media, files, shapes]));
  }

  ofTool(): Part {
    const draw = this.#random.next();
    if (draw < 0.3) return this.text("o");
    return this.#random.pick(this.#random.pick([media, media, files, shapes]));
  }

  call(): ToolCallPart {
    const random = this.#random;
    const named = random.chance(0.3)
      ? random.pick(callIds)
      : `call_${random.below(1_000_000).toString(36)}`;
    const base = {
      kind: "tool_call",
      id,
      callId: callId(named),
      tool: random.pick(tools),
    } as const;
    const raw = random.pick(random.chance(0.85) ? raws : badRaws);
    const parsed = parseArguments(raw);
    if (parsed.fault !== undefined) return { ...base, raw, fault: parsed.fault };
    const cut: ArgumentFault = { code: "truncated" };
    return random.chance(0.05)
      ? { ...base, raw, fault: cut }
      : { ...base, raw, input: parsed.input };
  }

  /** The part, sometimes damaged as an older version or another program may leave it. */
  damaged(part: Part): Part {
    const random = this.#random;
    if (!random.chance(0.04) || part.kind === "opaque") return part;
    const copy = { ...part };
    if (random.chance(0.5)) delete copy.metadata;
    if (copy.kind === "reasoning" || copy.kind === "tool_call") {
      if (random.chance(0.5)) delete copy.opaque;
      else copy.opaque = random.pick(rubbish);
    }
    if (copy.kind === "text" && random.chance(0.5)) copy.text = random.pick(blanks);
    if (copy.kind === "custom" && random.chance(0.5)) copy.value = random.pick(rubbish);
    return copy;
  }
}

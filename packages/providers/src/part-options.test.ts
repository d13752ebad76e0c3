/** Options of parts are in the request of each vendor, or the vendor is not asked and the refusal names them. */
import { callId, itemId, partId } from "@millrace/core/writing";
import type { FilePart, Item, JsonObject, MediaPart, Part, TextPart } from "@millrace/core";
import type { ModelRequest, PartOptions } from "@millrace/core/ports";
import { describe, expect, test } from "vitest";
import { anthropic } from "./anthropic.ts";
import { RequestRefusal } from "./protocols/refusal.ts";
import { startVendorServer } from "./serve/vendor-server.ts";
import { bytesOf } from "./testing/fixtures.ts";
import { settingsTargets } from "./testing/settings/cases.ts";
import type { SettingsTarget } from "./testing/settings/cases.ts";

const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3);
const image: MediaPart = { kind: "media", id: partId("p1"), mediaType: "image/png", bytes: png };
const pdf: FilePart = {
  kind: "file",
  id: partId("p1"),
  name: "a.pdf",
  mediaType: "application/pdf",
  bytes: Uint8Array.from("%PDF-1.7 \u0001", (letter) => letter.charCodeAt(0)),
};
const text: TextPart = { kind: "text", id: partId("p1"), text: "Hello." };

function user(...parts: readonly Part[]): Item {
  return { id: itemId("i1"), author: "user", parts, stop: "end" };
}

function withOptions<P extends Part>(part: P, options: PartOptions): P {
  return { ...part, metadata: { options } };
}

function targetOf(name: string): SettingsTarget {
  const target = settingsTargets.find((each) => each.name === name);
  if (target === undefined) throw new Error(`no target ${name}`);
  return target;
}

function bodyOf(name: string, transcript: readonly Item[], model: string): JsonObject {
  return targetOf(name).protocol.request({ transcript }, { model }).body;
}

interface Row {
  readonly name: string;
  readonly model: string;
  readonly part: Part;
  readonly options: PartOptions;
  /** What the body holds, or what the refusal says. */
  readonly sent?: JsonObject;
  readonly refused?: RegExp;
  /** The vendor does so by itself. */
  readonly inherent?: true;
}

const chat = { name: "openai-chat", model: "gpt-5" };
const newChat = { name: "openai-chat", model: "gpt-5.6-sol" };
const compatible = { name: "openai-compatible", model: "openai/gpt-5.6-sol" };
const responses = { name: "openai-responses", model: "gpt-5" };
const newResponses = { name: "openai-responses", model: "gpt-5.6-sol" };
const messages = { name: "anthropic-messages", model: "claude-sonnet-5" };
const gemini = { name: "gemini", model: "gemini-3-pro-preview" };
const oldGemini = { name: "gemini", model: "gemini-2.5-flash" };

const low = { detail: "low" } as const;
const cited = { citations: true } as const;
const kept = { cache: true } as const;
const about = { context: "from 1999" } as const;
const mark = { prompt_cache_breakpoint: { mode: "explicit" } };

const rows: readonly Row[] = [
  { ...chat, part: image, options: low, sent: low },
  { ...chat, part: pdf, options: low, refused: /for images: leave/ },
  { ...responses, part: image, options: low, sent: low },
  { ...responses, part: pdf, options: low, sent: { type: "input_file", ...low } },
  { ...messages, part: image, options: low, refused: /no levels of detail: scale/ },
  { ...gemini, part: image, options: low, sent: { level: "MEDIA_RESOLUTION_LOW" } },
  { ...gemini, part: image, options: { detail: "auto" }, inherent: true },
  { ...oldGemini, part: image, options: low, refused: /set generationConfig.mediaResolution/ },
  { ...gemini, part: text, options: low, refused: /for images: leave/ },

  { ...chat, part: pdf, options: cited, refused: /leave the option out, or ask Anthropic/ },
  { ...responses, part: pdf, options: cited, refused: /leave the option out, or ask Anthropic/ },
  { ...messages, part: pdf, options: cited, sent: { citations: { enabled: true } } },
  {
    ...messages,
    part: pdf,
    options: { citations: false },
    sent: { citations: { enabled: false } },
  },
  { ...messages, part: image, options: cited, refused: /leave the option out/ },
  { ...gemini, part: pdf, options: cited, refused: /leave the option out, or ask Anthropic/ },

  { ...chat, part: text, options: kept, inherent: true },
  { ...newChat, part: text, options: kept, sent: { type: "text", text: "Hello.", ...mark } },
  { ...newChat, part: image, options: kept, sent: mark },
  { ...compatible, part: text, options: kept, inherent: true },
  { ...responses, part: text, options: kept, inherent: true },
  { ...newResponses, part: text, options: kept, sent: { type: "input_text", ...mark } },
  { ...newResponses, part: pdf, options: kept, sent: { type: "input_file", ...mark } },
  { ...messages, part: text, options: kept, sent: { cache_control: { type: "ephemeral" } } },
  { ...messages, part: image, options: kept, sent: { cache_control: { type: "ephemeral" } } },
  { ...gemini, part: text, options: kept, inherent: true },

  { ...chat, part: pdf, options: about, refused: /write a text before the file/ },
  { ...responses, part: pdf, options: about, refused: /write a text before the file/ },
  { ...messages, part: pdf, options: about, sent: { type: "document", ...about } },
  { ...messages, part: text, options: about, refused: /for documents: leave/ },
  { ...gemini, part: pdf, options: about, refused: /write a text before the file/ },
];

describe("options of parts", () => {
  test.each(rows)("$name, $model: $options of $part.kind", (row) => {
    const { name, model, part, options, sent, refused } = row;
    const marked = withOptions(part, options);
    if (refused !== undefined) {
      const refusal = refusalOf(() => bodyOf(name, [user(marked)], model));
      expect(refusal.message).toMatch(refused);
      // Chat completions have many vendors.
      const { vendor = "?" } = targetOf(name).protocol.settings ?? {};
      expect(refusal.message).toContain(vendor.replace("OpenAI's chat", "chat"));
      expect(refusal.refused).toMatchObject({ option: Object.keys(options)[0], of: marked });
      return;
    }
    const body = bodyOf(name, [user(marked)], model);
    const plain = bodyOf(name, [user(part)], model);
    if (row.inherent === true) expect(body).toStrictEqual(plain);
    else {
      expect(holds(body, sent ?? {})).toBe(true);
      expect(holds(plain, sent ?? {})).toBe(false);
    }
  });

  test.each(settingsTargets)("$name names an option that nobody has", ({ name, models }) => {
    const part = { ...image, metadata: { options: { quality: 3 } } };
    const refusal = refusalOf(() => bodyOf(name, [user(part)], models[0] ?? ""));
    expect(refusal.message).toMatch(/the option quality \(3\) of media: use detail, citations/);
  });

  test.each(settingsTargets)("$name refuses a value that nobody takes", ({ name, models }) => {
    const part = { ...image, metadata: { options: { detail: "tiny" } } };
    const refusal = refusalOf(() => bodyOf(name, [user(part)], models[0] ?? ""));
    expect(refusal.message).toContain('the option detail ("tiny") of media: use "auto"');
  });

  test("a mark inside a tool's result is put behind the result", () => {
    const call: Part = {
      kind: "tool_call",
      id: partId("c"),
      callId: callId("call_1"),
      tool: "look",
      raw: "{}",
      input: {},
    };
    const result: Part = {
      kind: "tool_result",
      id: partId("r"),
      callId: callId("call_1"),
      tool: "look",
      status: "ok",
      text: "seen",
    };
    const items: readonly Item[] = [
      user(text),
      { id: itemId("i2"), author: "model", parts: [call], stop: "tools" },
      {
        id: itemId("i3"),
        author: "tool",
        parts: [result, withOptions(image, kept)],
        stop: "end",
      },
    ];
    const body = bodyOf(messages.name, items, messages.model);
    const block = { type: "tool_result", cache_control: { type: "ephemeral" } };
    expect(holds(body, block)).toBe(true);
    expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(1);
  });
});

const vendorFiles = [
  [chat, "openai:file-abc", "application/pdf", { file: { file_id: "file-abc" } }],
  [responses, "openai:file-abc", "application/pdf", { type: "input_file", file_id: "file-abc" }],
  [responses, "openai:file-abc", "image/png", { type: "input_image", file_id: "file-abc" }],
  [messages, "anthropic:file_011", "image/png", { source: { type: "file", file_id: "file_011" } }],
  [messages, "anthropic:file_011", "application/pdf", { type: "document" }],
  [messages, "anthropic:file_011", "text/plain", { type: "document" }],
  [messages, "anthropic:file_011", "text/csv", { type: "document" }],
  [messages, "anthropic:file_011", "application/zip", { type: "container_upload" }],
] as const;

test.each(vendorFiles)("%o reads its own file %s as %s", (target, url, mediaType, sent) => {
  const part: Part = { kind: "media", id: partId("p1"), mediaType, url };
  const body = bodyOf(target.name, [user(part)], target.model);
  expect(holds(body, sent)).toBe(true);
  expect(JSON.stringify(body)).toContain(url.replace(/^\w+:/, ""));
});

const foreignFiles = [
  [chat, "anthropic:file_011", "application/pdf"],
  [chat, "openai:file-abc", "image/png"],
  [responses, "anthropic:file_011", "application/pdf"],
  [messages, "openai:file-abc", "application/pdf"],
  [gemini, "openai:file-abc", "application/pdf"],
] as const;

test.each(foreignFiles)("%o refuses %s, %s, with what to do", (target, url, mediaType) => {
  const part: Part = { kind: "media", id: partId("p1"), mediaType, url };
  const refusal = refusalOf(() => bodyOf(target.name, [user(part)], target.model));
  expect(refusal.message).toContain("upload it to this one, or pass its bytes");
});

test("files by their ids are sent with the name of the feature, beside those of the settings", () => {
  const part: Part = {
    kind: "media",
    id: partId("p1"),
    mediaType: "image/png",
    url: "anthropic:file_011",
  };
  const request: ModelRequest = { transcript: [user(part)], settings: { betas: ["x-2026"] } };
  const { protocol } = targetOf(messages.name);
  const { headers } = protocol.request(request, { model: messages.model });
  expect(headers).toMatchObject({ "anthropic-beta": "x-2026,files-api-2025-04-14" });
});

test("an option is refused once; the next prompt goes on without it, and with its part", async () => {
  const body = bytesOf("anthropic-messages", "hello");
  await using server = await startVendorServer({ replies: [{ body }] });
  const model = anthropic("claude-sonnet-5", { baseUrl: server.url, apiKey: "k" });
  const first = user(withOptions(image, low));

  const refused = await model.stream({ transcript: [first] }).result;
  expect(server.requests).toHaveLength(0);
  expect(refused.cause).toMatchObject({
    code: "bad_request",
    evidence: { itemId: "i1", partId: "p1", option: "detail" },
  });

  const transcript = [first, { ...refused, id: itemId("i2"), author: "model" as const }];
  const notices: string[] = [];
  const next = await model.stream({
    transcript: [...transcript, { ...user(text), id: itemId("i3") }],
    notify: (notice) => {
      if (notice.type === "remark") notices.push(notice.message);
    },
  }).result;
  expect(next.stop).toBe("end");
  expect(JSON.stringify(server.requests[0]?.json)).toContain(Buffer.from(png).toString("base64"));
  expect(notices).toStrictEqual([
    "the option detail of media was refused before and is left out of the request",
  ]);
});

function refusalOf(build: () => unknown): RequestRefusal {
  try {
    build();
  } catch (error) {
    if (error instanceof RequestRefusal) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

/** True if some object in the value has these fields. */
function holds(value: unknown, fields: JsonObject): boolean {
  if (typeof value !== "object" || value === null) return false;
  const has = Object.entries(fields).every(
    ([key, field]) => JSON.stringify((value as JsonObject)[key]) === JSON.stringify(field),
  );
  return has || Object.values(value).some((each) => holds(each, fields));
}

/** Options of parts are in the request of each vendor, or the vendor is not asked and the refusal names them. */
import { callId, itemId, partId } from "@millrace/core/writing";
import type { Item, JsonObject, Part } from "@millrace/core";
import type { ModelRequest, PartOptions } from "@millrace/core/ports";
import { describe, expect, test } from "vitest";
import { anthropic } from "./anthropic.ts";
import { RequestRefusal } from "./protocols/refusal.ts";
import { startVendorServer } from "./serve/vendor-server.ts";
import { bytesOf } from "./testing/fixtures.ts";
import { settingsTargets } from "./testing/settings/cases.ts";
import type { SettingsTarget } from "./testing/settings/cases.ts";
import {
  chat,
  gemini,
  image,
  kept,
  low,
  messages,
  partCases,
  png,
  responses,
  text,
} from "./testing/settings/part-cases.ts";

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

describe("options of parts", () => {
  test.each(partCases)("$name, $model: $options of $part.kind", (row) => {
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

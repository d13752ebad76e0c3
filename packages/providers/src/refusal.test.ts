/** What a vendor does not take ends the reply before a request, with the part and what to do. */
import { itemId, partId } from "@millrace/core/writing";
import type { Item, Part } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import { expect, test } from "vitest";
import { anthropic } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import { openai, openaiChat } from "./openai.ts";
import { startVendorServer } from "./serve/vendor-server.ts";

const apiKey = "k";
const vendors = [
  ["a chat completions API", (baseUrl: string) => openaiChat("gpt-5", { baseUrl, apiKey })],
  ["OpenAI's Responses API", (baseUrl: string) => openai("gpt-5", { baseUrl, apiKey })],
  ["Anthropic's Messages API", (baseUrl: string) => anthropic("claude", { baseUrl, apiKey })],
  ["Gemini's API", (baseUrl: string) => gemini("gemini-3-pro", { baseUrl, apiKey })],
] as const;

function user(...parts: readonly Part[]): Item {
  return { id: itemId("i7"), author: "user", parts, stop: "end" };
}

const zip: Part = {
  kind: "file",
  id: partId("p2"),
  name: "all.zip",
  mediaType: "application/zip",
  bytes: Uint8Array.of(80, 75, 3, 4, 0),
};
const text: Part = { kind: "text", id: partId("p1"), text: "Read it." };

test.each(vendors)(
  "a file that it can't read is not replaced by a text: %s",
  async (name, model) => {
    await using server = await startVendorServer({ replies: [] });
    const request: ModelRequest = { transcript: [user(text, zip)] };
    const reply = await model(server.url).stream(request).result;

    expect(server.requests).toHaveLength(0);
    expect(reply).toMatchObject({
      parts: [],
      stop: "failed",
      cause: { code: "bad_request", retryable: false, evidence: { itemId: "i7", partId: "p2" } },
    });
    const message = reply.cause?.message ?? "";
    for (const words of [name, '"all.zip"', '"application/zip"', "convert it", "beforeReply"]) {
      expect(message.toLowerCase()).toContain(words.toLowerCase());
    }
  },
);

test.each(vendors)("a tool that can't be called is named as it was given: %s", async (_, model) => {
  await using server = await startVendorServer({ replies: [] });
  const tools = [{ name: "fs.list", input: { type: "array" } }];
  const reply = await model(server.url).stream({ transcript: [user(text)], tools }).result;

  expect(server.requests).toHaveLength(0);
  expect(reply.cause).toMatchObject({ code: "bad_request", evidence: { tool: "fs.list" } });
  expect(reply.cause?.message).toContain('"fs.list"');
});

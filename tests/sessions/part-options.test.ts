import { randomUUID } from "node:crypto";
import { defineAgent } from "@millrace/agent";
import type { JsonObject } from "@millrace/core";
import { anthropic } from "@millrace/providers/anthropic";
import { startVendorServer } from "@millrace/providers/testing";
import { fileStore } from "@millrace/stores/file";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../scripts/temporary.ts";
import { serve } from "../client/kit/served.ts";

const reply = [
  { type: "message_start", message: { id: "m", role: "assistant", content: [], usage: {} } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "Seen." } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
  { type: "message_stop" },
];

it("options of parts reach the vendor over HTTP and a store on disk, in every turn of the session", async () => {
  const body = reply.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  await using vendor = await startVendorServer({ replies: [{ body }, { body }] });
  using folder = temporaryFolder();
  await using store = fileStore(folder.path, { fsync: "never" });
  const settings = { maxTokens: 321, cache: { ttl: "1h" } } as const;
  const model = anthropic("claude-sonnet-5", { baseUrl: vendor.url, apiKey: "k", settings });
  await using served = await serve(defineAgent({ model }), {
    store,
    authenticate: () => ({ tenant: "default", user: "ann" }),
  });

  const post = async (path: string, sent: JsonObject): Promise<unknown> => {
    const answer = await fetch(`${served.url}/v1${path}`, {
      method: "POST",
      headers: {
        authorization: "Bearer ann",
        "content-type": "application/json",
        "idempotency-key": randomUUID(),
        prefer: "wait=10",
      },
      body: JSON.stringify(sent),
    });
    return await answer.json();
  };
  await post("/sessions", { id: "s" });
  const options = { citations: true, cache: true, context: "from 1999" };
  const file = {
    kind: "file",
    name: "a.txt",
    mediaType: "text/plain",
    bytes: Buffer.from("some words").toString("base64"),
    metadata: { options },
  };
  const text = { kind: "text", text: "Cite it." };
  const first = await post("/sessions/s/inputs", { kind: "prompt", parts: [file, text] });
  expect(first).toMatchObject({ outcome: "completed" });
  const second = await post("/sessions/s/inputs", { kind: "prompt", parts: [text] });
  expect(second).toMatchObject({ outcome: "completed" });

  const document = {
    type: "document",
    title: "a.txt",
    citations: { enabled: true },
    context: "from 1999",
    cache_control: { type: "ephemeral", ttl: "1h" },
  };
  expect(vendor.requests).toHaveLength(2);
  for (const { json } of vendor.requests) {
    expect(json).toHaveProperty("max_tokens", 321);
    expect(json).toHaveProperty("messages.0.content.0", expect.objectContaining(document));
  }
});

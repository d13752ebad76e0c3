/** What comes with a vendor's answer, under an agent and over a real socket. */
import { defineAgent } from "@millrace/agent";
import type { Item } from "@millrace/core";
import { decodeItem, encodeItem } from "@millrace/core/wire";
import { openaiChat } from "@millrace/providers/openai";
import { startVendorServer } from "@millrace/providers/testing";
import { expect, test } from "vitest";

const events = [
  { choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: null }] },
  { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
];
const body = `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")}data: [DONE]\n\n`;
const stream = { "content-type": "text/event-stream", "x-request-id": "req_good" };

test("an agent's item has the vendor's id of its request and its limits, and a retry has that of the failed one", async () => {
  await using server = await startVendorServer({
    replies: [
      { status: 503, body: "{}", headers: { "x-request-id": "req_bad" } },
      { body, headers: { ...stream, "x-ratelimit-remaining-tokens": "9" } },
      { body, headers: stream },
    ],
  });
  const model = openaiChat("gpt-5", { baseUrl: server.url, apiKey: "k" });
  await using session = await defineAgent({
    model,
    retry: { attempts: 3, baseMs: 1, capMs: 10 },
  }).open();

  const run = session.send("Hello");
  const seen: { readonly type: string }[] = [];
  for await (const event of run) seen.push(event);
  await session.send("Again").result;

  const items = session.transcript.filter(({ author }) => author === "model");
  expect(items.map(({ metadata }) => metadata)).toEqual([
    { response: { requestId: "req_good", rateLimits: [{ of: "tokens", remaining: 9 }] } },
    { response: { requestId: "req_good" } },
  ]);
  expect(seen.filter(({ type }) => type === "retry_scheduled")).toMatchObject([
    { cause: { evidence: { requestId: "req_bad" } } },
  ]);
  // Stores and viewers read the item as they read any other.
  for (const item of items as readonly Item[]) {
    expect(decodeItem(encodeItem(item))).toMatchObject({ ok: true, value: item });
  }
  // Vendors get nothing of it back.
  expect(JSON.stringify(server.requests[2]?.json)).not.toContain("req_good");
});

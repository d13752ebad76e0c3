// #region provider
import type { Model } from "@millrace/core";
import { bearerAuth, createModel, mapRequest, sseFraming } from "@millrace/providers";
import { anthropicMessagesProtocol } from "@millrace/providers/anthropic";

/** Claude behind a gateway that has its own path, a field for the cost centre, and tokens that expire. */
function gateway(model: string, baseUrl: string, token: () => Promise<string>): Model {
  const protocol = mapRequest(anthropicMessagesProtocol, (wire) => ({
    ...wire,
    path: `/claude/${model}/messages`,
    body: { ...wire.body, cost_centre: "search" },
  }));
  const endpoint = { baseUrl, query: { "api-version": "2" } };
  return createModel({ protocol, framing: sseFraming(), endpoint, auth: bearerAuth(token) }, model);
}
// #endregion

import { startVendorServer } from "@millrace/providers/testing";
import { expect, test } from "vitest";

const events = [
  { type: "message_start", message: { id: "m1", role: "assistant", content: [], usage: {} } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
  { type: "message_stop" },
];

test("a provider of one's own is a protocol with another path, address and proof", async () => {
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  await using server = await startVendorServer({ replies: [{ body }] });
  const model = gateway("claude-sonnet-5", server.url, () => Promise.resolve("t-1"));

  const reply = await model.stream({ transcript: [] }).result;

  expect(reply).toMatchObject({ stop: "end", parts: [{ kind: "text", text: "Hello" }] });
  expect(reply.model).toBe("anthropic-messages/claude-sonnet-5");
  expect(server.requests[0]).toMatchObject({
    path: "/claude/claude-sonnet-5/messages?api-version=2",
    headers: { authorization: "Bearer t-1" },
    json: { model: "claude-sonnet-5", cost_centre: "search", stream: true },
  });
});

import { expect, test } from "vitest";
import { allDialects, Served } from "./kit/served.ts";
import type { SentRequest } from "./kit/served.ts";

/** As the agent of a session with this uid would name the session of its next sub-agent. */
const name = "sub_TG1MZqsgr3D77XYS_item_key-0000000000000001_1_1_0";
const text = "Tell me";
const key = "key-0000000000000002";

// Who has made the session could read what the sub-agent is told, and decide about its tools.
test.each<[string, string, SentRequest]>([
  ["the server's own routes", "/v1/sessions", { body: { id: name }, key }],
  ["a fork", "/v1/sessions/trip/forks", { body: { id: name, itemId: "item_1" }, key }],
  [
    "the AI SDK",
    "/ai-sdk",
    { body: { id: name, messages: [{ id: "m", role: "user", parts: [{ type: "text", text }] }] } },
  ],
  [
    "AG-UI",
    "/ag-ui",
    {
      body: {
        threadId: name,
        runId: "r",
        state: {},
        messages: [{ id: "m", role: "user", content: text }],
        tools: [],
        context: [],
        forwardedProps: {},
      },
    },
  ],
  [
    "OpenAI's responses",
    "/openai/v1/responses",
    { body: { input: text, conversation: name, stream: true }, key },
  ],
  [
    "OpenAI's completions",
    "/openai/v1/chat/completions",
    {
      body: { model: "agent", stream: true, messages: [{ role: "user", content: text }] },
      key,
      headers: { "millrace-session": name },
    },
  ],
])("no session gets the name of a sub-agent's by %s", async (_, path, sent) => {
  await using served = new Served(undefined, { dialects: allDialects });
  await served.request("/v1/sessions", { body: { id: "trip" }, key: "key-0000000000000003" });

  const answer = await served.request(path, sent);

  expect(answer.status).toBe(403);
  const refusal = await answer.text();
  expect(refusal).toContain("names of this form are those of sub-agents' sessions");
  expect((await served.request(`/v1/sessions/${name}`)).status).toBe(404);
});

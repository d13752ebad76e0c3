import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { call, say } from "@millrace/core/testing";
import type { ScriptedReply } from "@millrace/core/testing";
import { openai } from "@millrace/dialects/openai";
import { createMillrace } from "@millrace/server";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { agentOf } from "./kit/openai.ts";

/** A server on a port, with an agent that gives these replies. */
async function listening(
  ...replies: readonly ScriptedReply[]
): Promise<AsyncDisposable & { readonly url: string }> {
  const agent = agentOf(...replies);
  const authenticate = () => ({ tenant: "web", user: "ann" });
  const millrace = createMillrace({
    agent,
    authenticate,
    basePath: "/agent",
    dialects: [openai()],
  });
  const server = createServer((request, response) => millrace.node(request, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo; // listening on a port, it has one
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await millrace.close({ drainMs: 0 });
    },
  };
}

const token = "of your application";

test("the how-to of Responses runs as it is printed", async () => {
  await using server = await listening(
    [say("Hello, Ann.")],
    [call("place", {})],
    [say("You are in Oslo.")],
    [say("Once upon a time")],
  );
  const { url } = server;
  // #region respond
  const openai = new OpenAI({ baseURL: `${url}/agent/openai/v1`, apiKey: token });
  const hello = await openai.responses.create({ input: "Hello, I am Ann." }); // a new session
  console.log(hello.output_text, hello.conversation?.id);
  // #endregion
  expect(hello.output_text).toBe("Hello, Ann.");

  // #region tool
  const asked = await openai.responses.create({
    previous_response_id: hello.id, // the same session
    input: "Where am I?",
  });
  const told = await openai.responses.create({
    previous_response_id: asked.id,
    input: asked.output
      .filter((item) => item.type === "function_call") // a tool of yours: `run: "client"`
      .map(({ call_id }) => ({ type: "function_call_output", call_id, output: '{"city":"Oslo"}' })),
  });
  // #endregion
  expect(told.output_text).toBe("You are in Oslo.");

  // #region background
  const { id } = await openai.responses.create({ input: "Tell me a story", background: true });
  let last = 0; // keep both: a page that is loaded anew goes on with them
  const events = await openai.responses.retrieve(id, { stream: true, starting_after: last });
  let text = "";
  for await (const event of events) {
    last = event.sequence_number;
    if (event.type === "response.output_text.delta") text += event.delta;
  }
  // #endregion
  expect([text, last > 0]).toEqual(["Once upon a time", true]);
});

test("the how-to of chat completions runs as it is printed", async () => {
  await using server = await listening([say("Hello, Ann.")]);
  const { url } = server;
  // #region chat
  const openai = new OpenAI({
    baseURL: `${url}/agent/openai/v1`,
    apiKey: token,
    defaultHeaders: { "Millrace-Session": "trip-to-oslo" }, // without it: a new one for each request
  });
  const stream = openai.chat.completions.stream({
    model: "agent",
    messages: [{ role: "user", content: "Hello, I am Ann." }],
  });
  const completion = await stream.finalChatCompletion();
  // #endregion
  expect(completion.choices[0]?.message.content).toBe("Hello, Ann.");
});

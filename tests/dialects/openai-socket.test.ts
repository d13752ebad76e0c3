import { once } from "node:events";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { defineAgent } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { call, say, scriptedModel, stall, think } from "@millrace/core/testing";
import type { ScriptedReply } from "@millrace/core/testing";
import { openai } from "@millrace/dialects/openai";
import { createMillrace } from "@millrace/server";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ResponseEvent } from "../../packages/dialects/src/openai/encode/response-writer.ts";
import { asJson, tools } from "./kit/openai.ts";
import { merged, withoutParsed } from "./kit/responses.ts";

/** What the model answers to each prompt, and to the results that follow on it. */
const scripts: Readonly<Record<string, readonly ScriptedReply[]>> = {
  tell: [
    [think("Hm, Oslo."), say("Let me look. "), call("weather", { city: "Oslo" })],
    [say("It is blue there, and 👩‍👩‍👧 are out.")],
  ],
  long: [[say("Once upon "), stall(), say("a time")]],
  pay: [[call("pay", { cents: 9 })], [say("So it is.")]],
  place: [[call("place", {})], [say("You are in Oslo.")]],
};

/** Answers by the last prompt and by how many results have come since, in pieces of four characters. */
const model: Model = {
  id: "scripted/by-prompt",
  stream: (request) => {
    const { transcript } = request;
    const at = transcript.findLastIndex(({ author }) => author === "user");
    const [part] = transcript[at]?.parts ?? [];
    const name = part?.kind === "text" ? part.text : "";
    const reply = transcript.slice(at).filter(({ author }) => author === "tool").length;
    const script = scripts[name]?.[reply] ?? [say("What?")];
    return scriptedModel([script], { delayMs: 5, chunk: [4] }).stream(request);
  },
};

const millrace = createMillrace({
  agent: defineAgent({ model, tools }),
  dialects: [openai()],
  basePath: "/agent",
  authenticate: (request) =>
    request.headers.get("authorization") === "Bearer ann"
      ? { tenant: "web", user: "ann" }
      : undefined,
  limits: { inputsPerUser: 1e6, requestsPerUser: 1e6, creationsPerUser: 1e6 },
});
let server: Server;
let client: OpenAI;

beforeAll(async () => {
  server = createServer((request, response) => millrace.node(request, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo; // listening on a port, it has one
  const baseURL = `http://127.0.0.1:${port}/agent/openai/v1`;
  client = new OpenAI({ apiKey: "ann", baseURL, maxRetries: 0 });
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await millrace.close({ drainMs: 0 });
});

describe("the openai library over a socket", () => {
  test("a response that is cut after every event, while it is written, is whole", async () => {
    const { id } = await client.responses.create({ input: "tell", background: true });
    const events: ResponseEvent[] = [];
    for (let last: ResponseEvent | undefined; last?.type !== "response.completed";) {
      const after = last === undefined ? {} : { starting_after: last.sequence_number };
      const stream = await client.responses.retrieve(id, { stream: true, ...after });
      for await (const event of stream) {
        last = event as unknown as ResponseEvent;
        events.push(last);
        break; // hangs up
      }
    }
    const whole: ResponseEvent[] = [];
    for await (const event of await client.responses.retrieve(id, { stream: true }))
      whole.push(event as unknown as ResponseEvent);

    expect(events.length).toBeGreaterThan(20);
    expect(merged(events)).toEqual(merged(whole));
    const read = await client.responses.retrieve(id);
    expect(asJson(events.at(-1)?.["response"])).toEqual(withoutParsed(asJson(read)));
    console.log(
      `count: Responses over a socket, cut after each of ${events.length} events, 0 differences`,
    );
  });

  test("the library's own helper resumes a response", async () => {
    const begun = await client.responses.create({ input: "tell", background: true });
    const stream = client.responses.stream({ response_id: begun.id, starting_after: 3 });
    const numbers: number[] = [];
    stream.on("event", ({ sequence_number: number }) => numbers.push(number));
    const told = await stream.finalResponse();

    expect(told.output_text).toBe("Let me look. It is blue there, and 👩‍👩‍👧 are out.");
    expect(Math.min(...numbers)).toBeGreaterThan(3);
  });

  test.each([false, true])(
    "a response asks for a tool and for a decision (stream: %s)",
    async (isStream) => {
      type Body = OpenAI.Responses.ResponseCreateParamsNonStreaming;
      const ask = async (body: Body): Promise<OpenAI.Responses.Response> =>
        isStream
          ? client.responses.stream({ ...body, stream: true }).finalResponse()
          : client.responses.create(body);
      const asked = await ask({ input: "place" });
      const [item] = asked.output;
      if (item?.type !== "function_call") throw new Error(JSON.stringify(asked.output));
      const told = await ask({
        previous_response_id: asked.id,
        input: [{ type: "function_call_output", call_id: item.call_id, output: '{"city":"Oslo"}' }],
      });
      expect(told.output_text).toBe("You are in Oslo.");

      const question = await ask({ previous_response_id: told.id, input: "pay" });
      const [request] = question.output;
      if (request?.type !== "mcp_approval_request")
        throw new Error(JSON.stringify(question.output));
      const paid = await ask({
        previous_response_id: question.id,
        input: [{ type: "mcp_approval_response", approval_request_id: request.id, approve: true }],
      });
      expect(paid.output[0]).toMatchObject({ type: "mcp_call", output: "paid 9" });
    },
  );

  test("a response in the background is polled, and cancelled in mid-word", async () => {
    const polled = await client.responses.create({ input: "tell", background: true });
    let { status } = polled;
    while (status === "queued" || status === "in_progress")
      ({ status } = await client.responses.retrieve(polled.id));
    expect(status).toBe("completed");

    const begun = await client.responses.create({ input: "long", background: true });
    const stream = client.responses.stream({ response_id: begun.id });
    const held = stream.finalResponse();
    await new Promise<void>((resolve) => {
      stream.on("response.output_text.delta", ({ snapshot }) => {
        if (snapshot === "Once upon ") resolve();
      });
    });
    const stopped = await client.responses.cancel(begun.id);
    expect(stopped.status).toBe("cancelled");
    expect(withoutParsed(asJson(await held))).toEqual(withoutParsed(asJson(stopped)));
  });

  test.each([false, true])(
    "a completion with a tool of the client (stream: %s)",
    async (isStream) => {
      type Messages = OpenAI.ChatCompletionMessageParam[];
      const ask = async (messages: Messages): Promise<OpenAI.ChatCompletion> =>
        isStream
          ? client.chat.completions.stream({ model: "agent", messages }).finalChatCompletion()
          : client.chat.completions.create({ model: "agent", messages });
      const told = await ask([{ role: "user", content: "tell" }]);
      expect(told.choices[0]?.message.content).toBe(
        "Let me look. \n\nIt is blue there, and 👩‍👩‍👧 are out.",
      );
      const [choice] = (await ask([{ role: "user", content: "place" }])).choices;
      const id = choice?.message.tool_calls?.[0]?.id ?? "";
      const answered = await ask([
        { role: "user", content: "place" },
        { role: "assistant", tool_calls: choice?.message.tool_calls ?? [] },
        { role: "tool", tool_call_id: id, content: '{"city":"Oslo"}' },
      ]);
      expect(answered.choices[0]?.message.content).toBe("You are in Oslo.");
    },
  );
});

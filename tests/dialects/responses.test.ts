import { call, fail, say, scriptedModel, stall, think } from "@millrace/core/testing";
import type { ScriptedReply } from "@millrace/core/testing";
import { defineAgent } from "@millrace/agent";
import type { Model } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { APIError } from "openai";
import type OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { until } from "../kit/until.ts";
import { Served } from "./kit/served.ts";
import { agentOf, asJson, clientOf, openaiWith, served, tools } from "./kit/openai.ts";
import { withoutParsed } from "./kit/responses.ts";

type Item = OpenAI.Responses.ResponseOutputItem;

function shapeOf(output: readonly Item[]): readonly string[] {
  return output.map((item) =>
    item.type === "message"
      ? `message ${item.content.map((each) => ("text" in each ? each.text : "")).join("")}`
      : item.type,
  );
}

describe("OpenAI Responses", () => {
  test("reasoning, text and tools of several model calls are one response, streamed, waited for and read", async () => {
    const replies: readonly ScriptedReply[] = [
      [think("Which city?"), say("Let me look."), call("weather", { city: "Oslo" })],
      [say("It is blue.")],
    ];
    await using server = served(...replies, ...replies);
    const client = clientOf(server);
    const stream = client.responses.stream({ model: "agent", input: "How is Oslo?" });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    const streamed = await stream.finalResponse();

    expect(shapeOf(streamed.output)).toEqual([
      "reasoning",
      "message Let me look.",
      "mcp_call",
      "message It is blue.",
    ]);
    expect(streamed.output[2]).toMatchObject({
      name: "weather",
      arguments: '{"city":"Oslo"}',
      output: '{"city":"Oslo","sky":"blue"}',
      status: "completed",
    });
    expect(streamed).toMatchObject({ status: "completed", output_text: "Let me look.It is blue." });
    expect([types[0], types.at(-1)]).toEqual(["response.created", "response.completed"]);
    const read = await client.responses.retrieve(streamed.id);
    expect(withoutParsed(asJson(read))).toEqual(withoutParsed(asJson(streamed)));
    const waited = await client.responses.create({ model: "agent", input: "How is Oslo?" });
    expect(shapeOf(waited.output)).toEqual(shapeOf(streamed.output));
  });

  test("previous_response_id goes on in the same session", async () => {
    await using server = served([say("one")], [say("two")]);
    const client = clientOf(server);
    const first = await client.responses.create({ input: "count", metadata: { at: "1" } });
    const second = await client.responses.create({
      input: [{ role: "user", content: [{ type: "input_text", text: "on" }] }],
      previous_response_id: first.id,
    });

    expect([first.output_text, second.output_text]).toEqual(["one", "two"]);
    expect(first.metadata).toEqual({ at: "1" });
    expect(second.previous_response_id).toBe(first.id);
    expect(second.conversation).toEqual(first.conversation);
    const items = await client.responses.inputItems.list(second.id);
    expect(items.data).toMatchObject([{ role: "user", content: [{ text: "on" }] }]);
    await expect(
      client.responses.create({ input: "again", previous_response_id: first.id }),
    ).rejects.toThrow(/not the newest/);
  });

  test("a tool of the client is a function_call, and its output is the next response's input", async () => {
    await using server = served([call("place", {})], [say("You are in Oslo.")]);
    const client = clientOf(server);
    const asked = await client.responses.create({ input: "Where am I?", conversation: "trip" });
    const [item] = asked.output;
    if (item?.type !== "function_call") throw new Error(JSON.stringify(asked.output));
    expect(item).toMatchObject({ name: "place", arguments: "{}", status: "completed" });
    expect(asked.conversation).toEqual({ id: "trip" });

    await expect(
      client.responses.create({ input: "well?", previous_response_id: asked.id }),
    ).rejects.toThrow(/No tool output found for function call/);
    const answer = {
      type: "function_call_output" as const,
      call_id: item.call_id,
      output: JSON.stringify({ city: "Oslo" }),
    };
    const body = { input: [answer], previous_response_id: asked.id };
    const told = await client.responses.create(body);
    expect(told.output_text).toBe("You are in Oslo.");
    expect(told.previous_response_id).toBe(asked.id);
    const inputs = await client.responses.inputItems.list(told.id);
    expect(inputs.data).toMatchObject([{ type: "function_call_output", call_id: item.call_id }]);
    // A client that lost the answer sends it again, and gets the same response.
    expect((await client.responses.create(body)).id).toBe(told.id);
    expect((await client.responses.retrieve(asked.id)).output).toEqual(asked.output);
  });

  test.each([
    [true, "completed"],
    [false, "failed"],
  ])("a question is answered with %s by an mcp_approval_response", async (approve, status) => {
    await using server = served([call("pay", { cents: 9 })], [say("So it is.")]);
    const client = clientOf(server);
    const asked = await client.responses.create({ input: "pay" });
    const [item] = asked.output;
    if (item?.type !== "mcp_approval_request") throw new Error(JSON.stringify(asked.output));
    expect(item).toMatchObject({ name: "pay", arguments: '{"cents":9}' });
    const stream = client.responses.stream({
      input: [{ type: "mcp_approval_response", approval_request_id: item.id, approve }],
      previous_response_id: asked.id,
    });
    const told = await stream.finalResponse();

    expect(told.output[0]).toMatchObject({
      type: "mcp_call",
      status,
      approval_request_id: item.id,
    });
    expect(told.output_text).toBe("So it is.");
    expect((await client.responses.inputItems.list(told.id)).data).toMatchObject([
      { type: "mcp_approval_response", approve },
    ]);
  });

  test("in the background it is polled, followed and cancelled", async () => {
    await using server = served([say("Once upon"), stall(), say(" a time")]);
    const client = clientOf(server);
    const begun = await client.responses.create({ input: "Tell me", background: true });
    expect(["queued", "in_progress"]).toContain(begun.status);
    expect(begun.background).toBe(true);
    const events = await client.responses.retrieve(begun.id, { stream: true });
    let text = "";
    for await (const event of events) {
      if (event.type === "response.output_text.delta") text += event.delta;
      if (text === "Once upon") break;
    }
    expect((await client.responses.retrieve(begun.id)).status).toBe("in_progress");
    const stopped = await client.responses.cancel(begun.id);

    expect(stopped.status).toBe("cancelled");
    expect(stopped.output_text ?? text).toBe("Once upon");
    const read = await client.responses.retrieve(begun.id);
    expect(read).toMatchObject({ status: "cancelled" });
    expect(shapeOf(read.output)).toEqual(["message Once upon"]);
    expect((await client.responses.cancel(begun.id)).status).toBe("cancelled");
  });

  test("a response that waits is over, and cancelling it stops the run that waits", async () => {
    await using server = served([call("place", {})], [say("never")]);
    const client = clientOf(server);
    const asked = await client.responses.create({ input: "Where am I?" });
    expect((await client.responses.cancel(asked.id)).status).toBe("completed");
    const [item] = asked.output;
    const call_id = item?.type === "function_call" ? item.call_id : "";
    const late = await client.responses.create({
      input: [{ type: "function_call_output", call_id, output: "{}" }],
      previous_response_id: asked.id,
    });

    expect(late).toMatchObject({ status: "cancelled", output: [] });
  });

  test("a message beside an answer is a note for the run, and both are the response's input", async () => {
    await using server = served([call("place", {})], [say("Vous êtes à Oslo.")]);
    const client = clientOf(server);
    const asked = await client.responses.create({ input: "Where am I?" });
    const [item] = asked.output;
    const call_id = item?.type === "function_call" ? item.call_id : "";
    const told = await client.responses.create({
      input: [
        { type: "function_call_output", call_id, output: '{"city":"Oslo"}' },
        { role: "user", content: "in French" },
      ],
      previous_response_id: asked.id,
    });

    expect(told.output_text).toBe("Vous êtes à Oslo.");
    const { data } = await client.responses.inputItems.list(told.id, { order: "asc" });
    expect(data.map(({ type }) => type).toSorted()).toEqual(["function_call_output", "message"]);
    const items = await server.request(`/v1/sessions/${told.conversation?.id}/items`);
    expect(await items.text()).toContain("in French");
  });

  test("images and files are stored, the large ones as blobs", async () => {
    await using server = served([say("seen")]);
    const client = clientOf(server);
    const large = Buffer.alloc(40_000, 7).toString("base64");
    const response = await client.responses.create({
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "look" },
            { type: "input_image", detail: "auto", image_url: `data:image/png;base64,${large}` },
            { type: "input_file", filename: "a.txt", file_data: "data:text/plain;base64,aGk=" },
          ],
        },
      ],
    });
    const { data } = await client.responses.inputItems.list(response.id);

    expect(data).toMatchObject([
      {
        content: [
          { type: "input_text", text: "look" },
          { type: "input_image", image_url: expect.stringMatching(/\/blobs\/sha256-/) as string },
          { type: "input_file", filename: "a.txt", file_url: "data:text/plain;base64,aGk=" },
        ],
      },
    ]);
  });

  test("a failed run is a failed response, with what was written", async () => {
    await using server = served([say("Well"), fail("overloaded", "too busy")]);
    const response = await clientOf(server).responses.create({ input: "hi" });

    expect(response).toMatchObject({ status: "failed", error: { message: "too busy" } });
  });

  test("a reader of a reply that is begun again is told so, and reads it anew", async () => {
    const replies = [
      [say("Well"), fail("overloaded", "too busy", { retryable: true })],
      [say("Better.")],
    ];
    const model = scriptedModel(replies, { delayMs: 100 });
    const retry = { attempts: 2, baseMs: 1, capMs: 1 };
    const seen = Promise.withResolvers<undefined>();
    let attempts = 0;
    const beforeReply = async (request: ModelRequest): Promise<ModelRequest> => {
      attempts += 1;
      if (attempts > 1) await seen.promise;
      return request;
    };
    await using server = new Served(defineAgent({ model, retry, hooks: { beforeReply } }));
    const client = clientOf(server);
    const stream = client.responses.stream({ input: "hi" });
    let id = "";
    stream.on("response.created", ({ response }) => (id = response.id));
    stream.on("response.output_text.delta", () => seen.resolve(undefined));
    const error = await stream.finalResponse().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "begun_again" });
    const anew = await client.responses.stream({ response_id: id }).finalResponse();

    expect(anew).toMatchObject({ status: "completed", output_text: "Better." });
  });

  test("what the agent does not take is refused in OpenAI's form, with what to do", async () => {
    await using server = served([say("mine")]);
    const client = clientOf(server);
    const refusal = async (body: object, by = client): Promise<APIError> => {
      const error = await by.responses.create(body as never).catch((thrown: unknown) => thrown);
      if (!(error instanceof APIError)) throw new Error(`not refused: ${JSON.stringify(error)}`);
      return error;
    };

    const given = await refusal({ input: "hi", temperature: 0.2 });
    expect([given.status, given.param, given.type]).toEqual([
      400,
      "temperature",
      "invalid_request_error",
    ]);
    expect((await refusal({ input: "hi", model: "gpt-5" })).message).toContain('send "agent"');
    expect((await refusal({ input: "hi", store: false })).message).toContain("always stored");
    expect((await refusal({ input: [{ role: "system", content: "x" }] })).param).toBe("input[0]");
    expect((await refusal({ input: [{ type: "reasoning", summary: [] }] })).message).toContain(
      "what was said before is stored",
    );
    expect((await refusal({ input: "hi", soup: 1 })).message).toContain("no such field");
    const mine = await client.responses.create({ input: "hi" });
    const theirs = clientOf(server, "bob");
    expect((await refusal({ input: "x", previous_response_id: mine.id }, theirs)).status).toBe(404);
    await expect(theirs.responses.retrieve(mine.id)).rejects.toMatchObject({ status: 404 });
    await expect(theirs.responses.cancel(mine.id)).rejects.toMatchObject({ status: 404 });
    const forged = ["\u0000", "a/b", "\ud800", "", "x".repeat(300)].map((name) => {
      const text = JSON.stringify([name, "run_1", 0]);
      return `resp_${Buffer.from(text).toString("base64url")}`;
    });
    for (const id of ["resp_nonsense", "resp_", "msg_1", `${mine.id}x`, ...forged])
      await expect(client.responses.retrieve(id), id).rejects.toMatchObject({ status: 404 });
    const { data } = await client.models.list();
    expect(data.map(({ id }) => id)).toEqual(["agent"]);
  });

  test("an answer has the form that its request asks for", async () => {
    const requests: unknown[] = [];
    const scripted = scriptedModel([[call("place", {})], [say('{"city":"Oslo"}')]]);
    const model: Model = {
      id: "scripted/form",
      stream: (request) => {
        requests.push(request.output?.schema);
        return scripted.stream(request);
      },
    };
    await using server = new Served(defineAgent({ model, tools }));
    const client = clientOf(server);
    const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const text = { format: { type: "json_schema", name: "place", schema } } as const;
    const asked = await client.responses.create({ input: "Where?", text });
    const [item] = asked.output;
    if (item?.type !== "function_call") throw new Error(JSON.stringify(asked.output));
    const answer = { type: "function_call_output", call_id: item.call_id, output: "{}" } as const;
    const body = { input: [answer], previous_response_id: asked.id };
    const other = { format: { ...text.format, schema: { type: "object" } } };
    await expect(client.responses.create({ ...body, text: other })).rejects.toThrow(/another form/);
    const told = await client.responses.parse({ ...body, text });

    expect(told.output_parsed).toEqual({ city: "Oslo" });
    expect(told.text).toMatchObject({ format: { name: "place" } });
    expect(requests).toEqual([schema, schema]);
  });

  test("a request that is repeated by its key is one, with one response", async () => {
    await using server = served([say("once")]);
    const client = clientOf(server);
    const headers = { "Idempotency-Key": "0123456789abcdef-1" };
    const ids = new Set<string>();
    for (let count = 0; count < 2; count += 1)
      ids.add((await client.responses.create({ input: "hi" }, { headers })).id);

    expect(ids.size).toBe(1);
  });

  test("a page of a listed origin may send the headers that the library adds", async () => {
    await using server = served([say("hello")]);
    const sent = new Set<string>();
    const client = openaiWith((request) => {
      for (const name of request.headers.keys()) sent.add(name);
      return server.millrace.fetch(request);
    });
    await client.responses.stream({ input: "hi" }).finalResponse();
    const answer = await server.request("/openai/v1/responses", { method: "OPTIONS" });
    const allowed = answer.headers.get("access-control-allow-headers")?.toLowerCase().split(", ");

    // Browsers send these two without asking.
    const asked = [...sent].filter((name) => name !== "accept" && name !== "user-agent");
    expect(asked.length).toBeGreaterThan(6);
    expect(allowed).toEqual(expect.arrayContaining(asked));
  });

  test("another process shows the response that is being written", async () => {
    const [memory, log] = [memorySessionStore(), memoryEventLog()];
    const store = () => memory;
    const agent = agentOf([say("Once upon"), stall(), say(" a time")]);
    await using driving = new Served(agent, { store, log });
    const begun = await clientOf(driving).responses.create({ input: "Tell me", background: true });
    await using other = new Served(agent, { store, log, driver: false });
    const stream = clientOf(other).responses.stream({ response_id: begun.id });
    let text = "";
    stream.on("response.output_text.delta", ({ snapshot }) => (text = snapshot));
    const held = stream.finalResponse();
    await until(() => text === "Once upon", "the first words");
    await clientOf(other).responses.cancel(begun.id);

    expect(await held).toMatchObject({ status: "cancelled", output: [{ type: "message" }] });
  });

  test("a reader is told that its server drains, and to come back", async () => {
    await using server = served([say("Once upon"), stall()]);
    const stream = clientOf(server).responses.stream({ input: "Tell me" });
    let text = "";
    stream.on("response.output_text.delta", ({ snapshot }) => (text = snapshot));
    const end = stream.finalResponse().catch((error: unknown) => error);
    await until(() => text === "Once upon", "the first words");
    await server.millrace.close({ drainMs: 0 });

    expect(String(await end)).toContain("starting_after");
  });
});

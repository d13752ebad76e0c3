import { defineAgent } from "@millrace/agent";
import { call, fail, say, scriptedModel, stall, think } from "@millrace/core/testing";
import { APIError } from "openai";
import type OpenAI from "openai";
import { afterEach, describe, expect, test, vi } from "vitest";
import { until } from "../kit/until.ts";
import { asJson, clientOf, served } from "./kit/openai.ts";
import { withoutParsed } from "./kit/responses.ts";
import { Served } from "./kit/served.ts";

type Message = OpenAI.ChatCompletionMessageParam;

interface Reasoned {
  readonly reasoning_content?: string;
}

const user = (content: string): Message => ({ role: "user", content });

afterEach(() => void vi.useRealTimers());

describe("OpenAI chat completions", () => {
  test("a run is one completion, streamed and waited for", async () => {
    const run = [
      [think("Which city?"), say("Let me look."), call("weather", { city: "Oslo" })],
      [say("It is blue.")],
    ] as const;
    await using server = served(...run, ...run);
    const client = clientOf(server);
    const messages = [user("How is Oslo?")];
    const stream = client.chat.completions.stream({
      model: "agent",
      messages,
      stream_options: { include_usage: true },
    });
    // The client keeps the last piece of fields that are not in the vendor's own types.
    let reasoning = "";
    stream.on("chunk", ({ choices: [choice] }) => {
      const { reasoning_content: piece = "" } = asJson(choice?.delta ?? {}) as Reasoned;
      reasoning += piece;
    });
    const streamed = await stream.finalChatCompletion();
    const waited = await client.chat.completions.create({ model: "agent", messages });

    expect(streamed.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: {
        content: "Let me look.\n\nIt is blue.",
        refusal: null,
      },
    });
    expect(reasoning).toBe("Which city?");
    expect(waited.choices[0]?.message).toMatchObject({
      ...(withoutParsed(asJson(streamed.choices[0]?.message)) as object),
      reasoning_content: reasoning,
    });
    expect(streamed.usage).toEqual(waited.usage);
  });

  test("a header names the session, and only what is new is read", async () => {
    await using server = served([say("one")], [say("two")]);
    const client = clientOf(server);
    const headers = { "Millrace-Session": "trip" };
    const past: Message[] = [user("count"), { role: "assistant", content: "a lie" }];
    const first = await client.chat.completions
      .create({ model: "agent", messages: [user("count")] }, { headers })
      .withResponse();
    expect(first.response.headers.get("millrace-session")).toBe("trip");
    const second = await client.chat.completions.create(
      { model: "agent", messages: [...past, user("on")] },
      { headers },
    );

    expect(second.choices[0]?.message.content).toBe("two");
    const items = await server.request("/v1/sessions/trip/items");
    expect(await items.text()).not.toContain("a lie");
    await expect(
      client.chat.completions.create({ model: "agent", messages: [...past, user("on")] }),
    ).rejects.toThrow(/Millrace-Session/);
  });

  test.each([false, true])(
    "a tool of the client is answered by tool messages (stream: %s)",
    async (isStream) => {
      await using server = served([say("Wait."), call("place", {})], [say("You are in Oslo.")]);
      const client = clientOf(server);
      const ask = async (messages: Message[]): Promise<OpenAI.ChatCompletion> =>
        isStream
          ? client.chat.completions.stream({ model: "agent", messages }).finalChatCompletion()
          : client.chat.completions.create({ model: "agent", messages });
      const asked = await ask([user("Where am I?")]);
      const [choice] = asked.choices;
      expect(choice?.finish_reason).toBe("tool_calls");
      const [called] = choice?.message.tool_calls ?? [];
      if (called?.type !== "function" || choice === undefined) throw new Error("no call");
      expect(called.function).toMatchObject({ name: "place", arguments: "{}" });
      const told = await ask([
        user("Where am I?"),
        choice.message,
        { role: "tool", tool_call_id: called.id, content: '{"city":"Oslo"}' },
      ]);

      expect(told.choices[0]?.message.content).toBe("You are in Oslo.");
      const bob = clientOf(server, "bob");
      await expect(
        bob.chat.completions.create({
          model: "agent",
          messages: [{ role: "tool", tool_call_id: called.id, content: "mine" }],
        }),
      ).rejects.toMatchObject({ status: 404 });
    },
  );

  test("a question is told in words, with where it is decided", async () => {
    await using server = served([call("pay", { cents: 9 })], [say("So it is.")]);
    const client = clientOf(server);
    const headers = { "Millrace-Session": "trip" };
    const send = (content: string): Promise<OpenAI.ChatCompletion> =>
      client.chat.completions.create({ model: "agent", messages: [user(content)] }, { headers });
    const asked = await send("pay");

    expect(asked.choices[0]?.message.refusal).toContain("/v1/sessions/trip/approvals");
    await expect(send("well?")).rejects.toThrow(/No decision found/);
  });

  test("a run that fails is an error, also in the midst of a stream", async () => {
    await using server = served(
      [say("Well"), fail("content_filter", "not this")],
      [say("Well"), fail("invalid_request", "too odd")],
      [say("Well"), fail("invalid_request", "too odd")],
    );
    const client = clientOf(server);
    const body = { model: "agent", messages: [user("hi")] };
    const filtered = await client.chat.completions.create(body);
    expect(filtered.choices[0]?.finish_reason).toBe("content_filter");
    const waited = await client.chat.completions.create(body).catch((error: unknown) => error);
    expect(waited).toMatchObject({
      status: 500,
      message: expect.stringContaining("too odd") as string,
    });
    const streamed = await client.chat.completions
      .stream(body)
      .finalChatCompletion()
      .catch((error: unknown) => error);
    expect(streamed).toBeInstanceOf(APIError);
    expect(String(streamed)).toContain("too odd");
  });

  test("what the agent does not take is refused with what to do", async () => {
    await using server = served([say("mine")]);
    const client = clientOf(server);
    const refusal = async (body: object): Promise<unknown> =>
      client.chat.completions.create({ messages: [user("x")], ...body } as never).then(
        () => "taken",
        (error: APIError) => [error.status, error.param],
      );

    expect(await refusal({ temperature: 1 })).toEqual([400, "temperature"]);
    expect(await refusal({ n: 2 })).toEqual([400, "n"]);
    expect(await refusal({ stream_options: { soup: true } })).toEqual([400, "stream_options"]);
    expect(await refusal({ messages: [{ role: "system", content: "x" }] })).toEqual([
      400,
      "messages[0]",
    ]);
    expect(
      await refusal({ messages: [{ role: "tool", tool_call_id: "call_1", content: "x" }] }),
    ).toEqual([400, "messages[0]"]);
    expect(await refusal({ response_format: { type: "json_object" } })).toEqual([
      400,
      "response_format",
    ]);
    expect(await refusal({ n: 1, frequency_penalty: 0, tools: [], stream: false })).toBe("taken");
  });

  test("one that waits behind another run of its session has nothing of that run", async () => {
    const replies = [[say("Once upon a time there was a mill")], [say("two")]] as const;
    const model = scriptedModel(replies, { delayMs: 10, chunk: [4] });
    await using server = new Served(defineAgent({ model }));
    const client = clientOf(server);
    const ask = (content: string) =>
      client.chat.completions.create(
        { model: "agent", messages: [user(content)], stream: true },
        { headers: { "Millrace-Session": "trip" } },
      );
    const first = await ask("Tell me");
    for await (const { choices } of first) if (choices[0]?.delta.content === "Once") break;
    let text = "";
    for await (const { choices } of await ask("Count")) text += choices[0]?.delta.content ?? "";

    expect(text).toBe("two");
  });

  test("without a session it is stopped 30 s after its reader left", async () => {
    await using server = served([say("Once upon"), stall(), say(" a time")]);
    const client = clientOf(server);
    const { data, response } = await client.chat.completions
      .create({ model: "agent", messages: [user("Tell me")], stream: true })
      .withResponse();
    const session = response.headers.get("millrace-session");
    const statusOf = async (): Promise<string> => {
      const answer = await server.request(`/v1/sessions/${session}`);
      return ((await answer.json()) as { readonly status: string }).status;
    };
    let text = "";
    for await (const chunk of data) {
      text += chunk.choices[0]?.delta.content ?? "";
      if (text !== "Once upon") continue;
      vi.useFakeTimers({ toFake: ["setTimeout"] });
      break;
    }
    await until(() => vi.getTimerCount() > 0, "the reader's leaving");
    vi.advanceTimersByTime(29_000);
    expect(await statusOf()).toBe("running");
    vi.advanceTimersByTime(1_000);
    vi.useRealTimers();
    await until(async () => (await statusOf()) === "idle", "the stop");
  });
});

import { callId, itemId, partId } from "@millrace/core/writing";
import type { Item, Json, JsonObject, Part, ToolCallPart, Transcript } from "@millrace/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sseFraming } from "../../framing/sse.ts";
import { decode } from "../../testing/decode.ts";
import {
  answer,
  answersTo,
  call,
  foreign,
  item,
  messagesOf,
  says,
} from "../../testing/openai-chat-items.ts";
import { textOf } from "./events.ts";
import { openaiChatProtocol } from "./protocol.ts";
import { WireIds } from "../wire-ids.ts";

const mistral = "mistral-large-latest";
const nine = /^[a-zA-Z0-9]{9}$/;

/** The ids of the calls and of the results of a request, each in their order. */
function idsOf(transcript: Transcript, model: string): { calls: Json[]; results: Json[] } {
  const messages = messagesOf(transcript, model) as readonly JsonObject[];
  const calls = messages.flatMap(({ tool_calls: list }) => (list ?? []) as readonly JsonObject[]);
  const results = messages.filter(({ role }) => role === "tool");
  return {
    calls: calls.map(({ id }) => id ?? null),
    results: results.map(({ tool_call_id: id }) => id ?? null),
  };
}

const two = (author: { readonly model: string }): Transcript => {
  const turn = item("model", [call("toolu_01A09q90qw90lq917835lq9"), call("call_2")], author);
  return [says("Hi"), turn, answersTo(turn), says("?")];
};

describe("ids of calls for a model that takes nine letters and digits", () => {
  test("calls of other vendors and their results get one such id each", () => {
    const { calls, results } = idsOf(two(foreign), mistral);

    expect(calls).toEqual([expect.stringMatching(nine), expect.stringMatching(nine)]);
    expect(new Set(calls).size).toBe(2);
    expect(results).toEqual(calls);
  });

  test("an id depends on nothing but itself, so a transcript that grows keeps its ids", () => {
    const before = idsOf(two(foreign), mistral).calls;
    const grown = item("model", [call("call_3")], foreign);

    const after = idsOf([...two(foreign), grown, answersTo(grown)], mistral).calls;

    expect(after.slice(0, 2)).toEqual(before);
    expect(idsOf(two(foreign), "mistralai/mistral-small").calls).toEqual(before);
  });

  test("the model's own ids go back as they are", () => {
    const turn = item("model", [call("VvvODy9mT")], { model: `openai-chat/${mistral}` });

    const ids = idsOf([says("Hi"), turn, answersTo(turn)], mistral);

    expect(ids).toEqual({ calls: ["VvvODy9mT"], results: ["VvvODy9mT"] });
  });

  test.each([
    [mistral, true],
    ["open-mixtral-8x22b", true],
    ["mistralai/Ministral-8B-Instruct-2410", true],
    ["labs-devstral-small-2512", true],
    ["azureai/codestral-2501", true],
    ["pixtral-12b", true],
    ["magistral-medium-2509", true],
    ["gpt-5.2", false],
    ["anthropic/claude-sonnet-4.5", false],
    ["deepseek-chat", false],
    ["austral-7b", false],
  ])("%s needs them: %s", (model, isStrict) => {
    const { calls } = idsOf(two(foreign), model);

    expect(calls.every((id) => nine.test(textOf(id)))).toBe(isStrict);
    if (!isStrict) expect(calls).toEqual(["toolu_01A09q90qw90lq917835lq9", "call_2"]);
  });

  test("any ids become as many, and each is found again by its call", () => {
    const given = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 40 }), { maxLength: 200 });
    fc.assert(
      fc.property(given, (ids) => {
        const wire = new WireIds(mistral);
        const sent = ids.map((id) => wire.take(toolCall(id)));

        expect(sent.every((id) => nine.test(id))).toBe(true);
        expect(new Set(sent).size).toBe(ids.length);
        expect(ids.map((id) => wire.of(id))).toEqual(sent);
      }),
      { numRuns: 300 },
    );
  });
});

function toolCall(id: string): ToolCallPart {
  return {
    kind: "tool_call",
    id: partId("p1"),
    callId: callId(id),
    tool: "look",
    raw: "{}",
    input: {},
  };
}

/** The reply to one call entry, as an item, and the result of its call. */
function turnOf(entry: JsonObject): readonly Item[] {
  const chunk = (choice: JsonObject): string =>
    `data: ${JSON.stringify({ id: "c1", choices: [{ index: 0, ...choice }] })}\n\n`;
  const body = { index: 0, function: { name: "look", arguments: "{}" }, ...entry };
  const stream = [
    chunk({ delta: { tool_calls: [body] }, finish_reason: null }),
    chunk({ delta: {}, finish_reason: "tool_calls" }),
    "data: [DONE]\n\n",
  ].join("");
  const { draft } = decode(openaiChatProtocol, sseFraming(), [new TextEncoder().encode(stream)]);
  const parts = draft.parts.flatMap((part): readonly Part[] =>
    part.state === "committed" ? [part.part] : [],
  );
  const id = parts.flatMap((part) => (part.kind === "tool_call" ? [part.callId] : []))[0] ?? "";
  const reply: Item = {
    id: itemId("reply"),
    author: "model",
    parts,
    stop: "tools",
    model: "openai-chat/gemini-3-pro",
  };
  return [says("Hi"), reply, item("tool", [answer(id)])];
}

describe("what a gateway needs back with a call", () => {
  const entriesOf = (transcript: Transcript, model: string): readonly JsonObject[] =>
    (messagesOf(transcript, model) as readonly JsonObject[]).flatMap(
      ({ tool_calls: list }) => (list ?? []) as readonly JsonObject[],
    );

  test.each(["thoughtSignature", "thought_signature"])("%s goes back where it came", (name) => {
    const turn = turnOf({ id: "f1", [name]: "c2ln" });

    expect(entriesOf(turn, "gemini-3-pro")).toMatchObject([{ id: "f1", [name]: "c2ln" }]);
    expect(entriesOf(turn, "gemini-3-pro")[0]).not.toHaveProperty("extra_content");
    expect(entriesOf(turn, "gpt-5.2")[0]).not.toHaveProperty(name);
  });

  test("an id with a signature in it goes back whole, and only to its own server", () => {
    const id = `call_9f1__thought__${"Q2lR".repeat(100)}`;
    const turn = turnOf({ id });

    expect(idsOf(turn, "gemini-3-pro")).toEqual({ calls: [id], results: [id] });
    expect(idsOf(turn, "gpt-5.2")).toEqual({ calls: ["call_1"], results: ["call_1"] });
  });
});

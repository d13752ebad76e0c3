import type { JsonObject } from "@millrace/core";
import { expect, test } from "vitest";
import { strictDeepseek } from "./deepseek.ts";
import type { PlainReply, StrictVendor } from "./vendor.ts";

interface Received {
  readonly refused: string | undefined;
  readonly deltas: readonly JsonObject[];
  readonly usage: JsonObject;
}

function send(
  vendor: StrictVendor,
  body: JsonObject,
  reply: PlainReply = { text: "Yes." },
): Received {
  const response = vendor.answer(
    {
      method: "POST",
      path: "/chat/completions",
      headers: {},
      body: JSON.stringify({ model: "deepseek-v4-pro", stream: true, ...body }),
    },
    () => reply,
  );
  const text = response.body as string;
  if (response.status !== 200) {
    const { error } = JSON.parse(text) as { error: { message: string } };
    return { refused: error.message, deltas: [], usage: {} };
  }
  expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  const chunks = [...text.matchAll(/^data: (\{.*)$/gm)].map(
    ([, data = "{}"]) =>
      JSON.parse(data) as { choices: [{ delta: JsonObject }]; usage?: JsonObject },
  );
  return {
    refused: undefined,
    deltas: chunks.map(({ choices: [{ delta }] }) => delta),
    usage: chunks.at(-1)?.usage ?? {},
  };
}

const user = (content: string): JsonObject => ({ role: "user", content });
const call = {
  id: "call_1",
  type: "function",
  function: { name: "weather", arguments: "{}" },
};
const calling = (more: JsonObject = {}): JsonObject => ({
  role: "assistant",
  content: null,
  tool_calls: [call],
  ...more,
});
const result = { role: "tool", tool_call_id: "call_1", content: "4" };
const missing = "The `reasoning_content` in the thinking mode must be passed back to the API.";
const unanswered =
  "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)";

const rules: readonly [name: string, body: JsonObject, refused: string | undefined][] = [
  [
    "a call with its reasoning",
    { messages: [user("A"), calling({ reasoning_content: "Hm." }), result] },
    undefined,
  ],
  [
    "a call with empty reasoning",
    { messages: [user("A"), calling({ reasoning_content: "" }), result] },
    undefined,
  ],
  ["a call without its reasoning", { messages: [user("A"), calling(), result] }, missing],
  [
    "a call of an earlier turn without its reasoning",
    {
      messages: [
        user("A"),
        calling(),
        result,
        { role: "assistant", content: "B", reasoning_content: "Hm." },
        user("C"),
      ],
    },
    missing,
  ],
  [
    "a text without its reasoning",
    { messages: [user("A"), { role: "assistant", content: "B" }, user("C")] },
    undefined,
  ],
  [
    "a call without its reasoning while thinking is off",
    { messages: [user("A"), calling(), result], thinking: { type: "disabled" } },
    undefined,
  ],
  [
    "a system message between others",
    {
      messages: [
        user("A"),
        { role: "assistant", content: "B" },
        { role: "system", content: "C" },
        user("D"),
      ],
    },
    undefined,
  ],
  [
    "a call without its result",
    { messages: [user("A"), calling({ reasoning_content: "" })] },
    unanswered,
  ],
  [
    "a user message before the result",
    { messages: [user("A"), calling({ reasoning_content: "" }), user("B"), result] },
    unanswered,
  ],
  [
    "a result without its call",
    { messages: [user("A"), result] },
    "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
  ],
  [
    "an unknown role",
    { messages: [{ role: "developer", content: "A" }] },
    "Failed to deserialize the JSON body into the target type: messages[0].role: unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`",
  ],
];

test.for(
  rules.map(([name, body, refused]) => {
    return [name, refused === undefined ? "accepted" : "refused", body, refused] as const;
  }),
)("%s is %s", ([, , body, refused]) => {
  expect(send(strictDeepseek({ now: () => 0 }), body).refused).toBe(refused);
});

test("reasoning, text and calls are streamed in this order", () => {
  const vendor = strictDeepseek({ now: () => 0 });
  const reply = { think: "Hm.", text: "So.", calls: [{ name: "weather", input: {} }] };

  const { deltas } = send(vendor, { messages: [user("A")] }, reply);

  expect(deltas).toMatchObject([
    { role: "assistant", reasoning_content: "" },
    { reasoning_content: "Hm." },
    { content: "So." },
    { tool_calls: [{ index: 0, function: { name: "weather", arguments: "{}" } }] },
    { content: "" },
  ]);
});

test("a prefix is read in steps of 64 tokens, and hits and misses make the whole", () => {
  const vendor = strictDeepseek({ now: () => 0 });
  const system = { role: "system", content: "All work and no play. ".repeat(50) };
  send(vendor, { messages: [system, user("A")] });

  const { usage } = send(vendor, { messages: [system, user("B")] });

  const hit = Number(usage["prompt_cache_hit_tokens"]);
  expect([hit > 200, hit % 64]).toEqual([true, 0]);
  expect(hit + Number(usage["prompt_cache_miss_tokens"])).toBe(usage["prompt_tokens"]);
  expect(vendor.bill).toMatchObject({ requests: 2, read: hit, write: 0 });
});

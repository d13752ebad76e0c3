import type { JsonObject } from "@millrace/core";
import { expect, test } from "vitest";
import { without } from "./json.ts";
import { strictResponses } from "./responses.ts";
import type { AcceptedRequest, PlainReply, StrictVendor } from "./vendor.ts";

interface Received {
  readonly status: number;
  readonly refused: string | undefined;
  readonly code: string | undefined;
  readonly output: readonly JsonObject[];
  readonly usage: JsonObject;
}

const weather = { type: "function", name: "weather", parameters: { type: "object" } };
const base = { model: "gpt-5.6-sol", store: false, instructions: "You help.", tools: [weather] };

/** Sends a body. The output is that of the last event, which the other events must agree with. */
function send(
  vendor: StrictVendor,
  body: JsonObject,
  reply: PlainReply | ((request: AcceptedRequest) => PlainReply) = { text: "Yes." },
): Received {
  const response = vendor.answer(
    {
      method: "POST",
      path: "/v1/responses",
      headers: {},
      body: JSON.stringify({ ...base, stream: true, ...body }),
    },
    typeof reply === "function" ? reply : () => reply,
  );
  const text = response.body as string;
  const { status } = response;
  if (status !== 200) {
    const { error } = JSON.parse(text) as { error: { message: string; code: string | null } };
    return { status, refused: error.message, code: error.code ?? undefined, output: [], usage: {} };
  }
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(
    ([, data = "{}"]) => JSON.parse(data) as JsonObject,
  );
  const last = events.at(-1)?.["response"] as JsonObject;
  const output = last["output"] as readonly JsonObject[];
  const done = events.filter(({ type }) => type === "response.output_item.done");
  expect(done.map(({ item }) => item)).toEqual(output);
  return {
    status,
    refused: undefined,
    code: undefined,
    output,
    usage: last["usage"] as JsonObject,
  };
}

const user = (content: string): JsonObject => ({ type: "message", role: "user", content });
const output = (call_id: string): JsonObject => ({
  type: "function_call_output",
  call_id,
  output: "4",
});
const calls = [{ name: "weather", input: { city: "Oslo" }, id: "call_1" }];

/** A vendor, and the items after a call with reasoning before it. */
function called(account = "a"): {
  readonly vendor: StrictVendor;
  readonly items: readonly JsonObject[];
} {
  const vendor = strictResponses({ now: () => 0, account });
  const first = send(vendor, { input: [user("One?")] }, { think: "Hm.", calls });
  return { vendor, items: [user("One?"), ...first.output, output("call_1")] };
}

test("reasoning goes back with the call that it led to", () => {
  const { vendor, items } = called();
  expect(items).toMatchObject([
    { role: "user" },
    { type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }] },
    { type: "function_call", call_id: "call_1", name: "weather", arguments: '{"city":"Oslo"}' },
    { type: "function_call_output" },
  ]);

  expect(send(vendor, { input: [...items] }).refused).toBeUndefined();
  expect(vendor.dropped).toEqual([]);
});

test("encrypted content of another organisation, or damaged, is refused", () => {
  const { vendor, items } = called();
  const sealed = items[1]?.["encrypted_content"] as string;
  const short = `${sealed.slice(0, 4)}...${sealed.slice(-4)}`;
  const message = `The encrypted content ${short} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`;
  const other = strictResponses({ now: () => 0, account: "b" });

  expect(send(other, { input: [...items] })).toMatchObject({
    status: 400,
    refused: message,
    code: "invalid_encrypted_content",
  });
  const middle = sealed.length >> 1;
  const changed =
    sealed.slice(0, middle) + (sealed[middle] === "A" ? "B" : "A") + sealed.slice(middle + 1);
  const damaged = items.map((item) =>
    item["type"] === "reasoning" ? { ...item, encrypted_content: changed } : item,
  );
  expect(send(vendor, { input: damaged }).refused).toBe(message);
});

test("reasoning of another model is not read, and not refused", () => {
  const { vendor, items } = called();

  expect(send(vendor, { model: "gpt-6-sol", input: [...items] }).refused).toBeUndefined();
  expect(vendor.dropped).toEqual([{ path: "input[1]", reason: "model_mismatch" }]);
});

const faults: readonly [
  name: string,
  input: (items: readonly JsonObject[]) => readonly JsonObject[],
  refused: string,
][] = [
  [
    "reasoning without the item behind it",
    ([question, reasoning]) => [question, reasoning, user("Two?")] as readonly JsonObject[],
    "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
  ],
  [
    "a call with its id, without the reasoning before it",
    (items) => items.filter(({ type }) => type !== "reasoning"),
    "Item 'fc_1_0' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
  ],
  [
    "a call without its output",
    (items) => items.slice(0, -1),
    "No tool output found for function call call_1.",
  ],
  [
    "an output without its call",
    () => [user("One?"), output("call_1")],
    "No tool call found for function call output with call_id call_1.",
  ],
  [
    "an output that is sent twice",
    (items) => [...items, output("call_1")],
    "No tool call found for function call output with call_id call_1.",
  ],
  [
    "an item that is sent twice",
    (items) => [...items, ...items.slice(1, 3)],
    "Duplicate item found with id rs_1. Remove duplicate items from your input and try again.",
  ],
  [
    "reasoning that is neither stored nor encrypted",
    (items) => items.map((item) => without(item, "encrypted_content")),
    "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
  ],
];

test.for(faults)("%s is refused", ([, input, refused]) => {
  const { vendor, items } = called();

  expect(send(vendor, { input: [...input(items)] }).refused).toBe(refused);
});

test("reasoning before another item of its reply is refused", () => {
  const vendor = strictResponses({ now: () => 0 });
  const reply = { think: "Hm.", text: "I look.", calls };
  const { output: made } = send(vendor, { input: [user("One?")] }, reply);
  const input = [user("One?"), ...made.filter(({ type }) => type !== "message"), output("call_1")];

  expect(send(vendor, { input }).refused).toBe(
    "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
  );
});

test("items without ids need neither the reasoning nor each other's order by id", () => {
  const { vendor, items } = called();
  const plain = items.filter(({ type }) => type !== "reasoning").map((item) => without(item, "id"));

  expect(send(vendor, { input: plain }).refused).toBeUndefined();
});

const more = { ...weather, name: "more" };
const adding = (tools: readonly JsonObject[], role = "developer"): JsonObject => ({
  type: "additional_tools",
  role,
  tools: [...tools],
});
const additions: readonly [name: string, body: JsonObject, refused: string | undefined][] = [
  ["a tool that an item adds", { input: [user("One?"), adding([more])] }, undefined],
  [
    "a tool that an item replaces",
    { input: [adding([more]), user("One?"), adding([{ ...more, description: "New" }])] },
    undefined,
  ],
  [
    "a tool of the body that an item declares again",
    { input: [user("One?"), adding([weather])] },
    "Invalid 'input[1].tools[0].name': 'weather' is declared in 'tools' already.",
  ],
  [
    "an addition by the user",
    { input: [user("One?"), adding([more], "user")] },
    "Invalid value: 'user'. Supported values are: 'developer'.",
  ],
  [
    "an addition of nothing",
    { input: [user("One?"), adding([])] },
    "Invalid 'input[1].tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
  ],
  [
    "a choice among added tools",
    {
      input: [user("One?"), adding([more])],
      tool_choice: {
        type: "allowed_tools",
        mode: "auto",
        tools: [{ type: "function", name: "more" }],
      },
    },
    undefined,
  ],
  [
    "a choice among tools that are not there",
    {
      input: [user("One?")],
      tool_choice: {
        type: "allowed_tools",
        mode: "auto",
        tools: [{ type: "function", name: "more" }],
      },
    },
    "Tool choice 'more' not found in 'tools' parameter.",
  ],
  [
    "an update of the settings",
    { input: [user("One?"), { type: "configuration_update", reasoning: { effort: "low" } }] },
    undefined,
  ],
  [
    "an unknown field of an update",
    { input: [user("One?"), { type: "configuration_update", tools: [] }] },
    "Unknown parameter: 'input[1].tools'.",
  ],
  [
    "an unknown field of the body",
    { input: [user("One?")], colour: "red" },
    "Unknown parameter: 'colour'.",
  ],
];

test.for(
  additions.map(([name, body, refused]) => {
    return [name, refused === undefined ? "accepted" : "refused", body, refused] as const;
  }),
)("%s is %s", ([, , body, refused]) => {
  expect(send(strictResponses({ now: () => 0 }), body).refused).toBe(refused);
});

test("a script reads appended instructions, and the tools that are offered", () => {
  const vendor = strictResponses({ now: () => 0 });
  const update = { type: "configuration_update", text: { format: { type: "json_schema" } } };
  const brief = { type: "message", role: "developer", content: "Be brief." };
  const accepted: AcceptedRequest[] = [];

  send(vendor, { input: [user("One?"), adding([more]), update, brief] }, (request) => {
    accepted.push(request);
    return { text: "{}" };
  });

  expect(accepted).toMatchObject([
    {
      instructions: "You help.\nBe brief.",
      lastUserText: "One?",
      tools: ["weather", "more"],
      wantsJson: true,
      answersCalls: false,
    },
  ]);
});

const long = "All work and no play makes a model dull. ".repeat(200);

/** The cached tokens of one more request, after one that fills the cache. */
function cached(body: JsonObject, { minutes = 1 } = {}): number {
  let now = 0;
  const vendor = strictResponses({ now: () => now });
  const first = { instructions: long, input: [user("One?")], prompt_cache_key: "k" };
  send(vendor, first);
  now += minutes * 60_000;
  const { usage } = send(vendor, { ...first, ...body });
  return (usage["input_tokens_details"] as JsonObject)["cached_tokens"] as number;
}

test("an exact prefix is read in steps of 128 tokens, by organisation and key", () => {
  const all = cached({});
  expect(all % 128).toBe(0);
  expect(all).toBeGreaterThan(1900);
  expect(cached({ input: [user("One?"), { ...user("Two?"), role: "developer" }] })).toBe(all);
  expect(cached({ prompt_cache_key: "other" })).toBe(0);
  expect(cached({ model: "gpt-6-sol" })).toBe(0);
  expect(cached({ tools: [] })).toBe(0);
  expect(cached({}, { minutes: 29 })).toBe(all);
  expect(cached({}, { minutes: 31 })).toBe(0);
  const halfway = cached({ instructions: long.slice(0, 5000) });
  expect(halfway).toBeGreaterThan(1024);
  expect(halfway).toBeLessThan(all);
});

test("a prefix of fewer than 1,024 tokens is not cached", () => {
  expect(cached({ instructions: long.slice(0, 3500) })).toBe(0);
});

test("what is written is billed from GPT-5.6 on", () => {
  for (const [model, isBilled] of [
    ["gpt-5.6-sol", true],
    ["gpt-5.2", false],
  ] as const) {
    const vendor = strictResponses({ now: () => 0 });
    send(vendor, { model, instructions: long, input: [user("One?")] });

    expect(vendor.bill.write > 0).toBe(isBilled);
    expect(vendor.bill.total).toBe(vendor.bill.plain + vendor.bill.write);
  }
});

import { isJsonObject } from "@millrace/core/json";
import type { JsonObject } from "@millrace/core";
import { expect, test } from "vitest";
import { readAwsEvents } from "../testing/aws-messages.ts";
import { blocksOf, weather } from "../testing/messages-client.ts";
import { strictBedrock } from "./bedrock.ts";
import type { PlainReply, StrictVendor, StrictVendorOptions } from "./vendor.ts";

const controls = "thinking-binding-controls-2026-08-01";
const opus = "anthropic.claude-opus-5-5";
const errors = "The model returned the following errors: ";
const bound =
  'Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';

interface Received {
  readonly refused: string | undefined;
  readonly events: readonly (readonly [string, JsonObject])[];
}

/** Sends a body to one operation of a model. */
function send(
  vendor: StrictVendor,
  [operation, body, model = opus]: readonly [string, JsonObject, string?],
  reply: PlainReply = { think: "Hm.", text: "Yes." },
): Received {
  const response = vendor.answer(
    {
      method: "POST",
      path: `/model/${encodeURIComponent(model)}/${operation}`,
      headers: {},
      body: JSON.stringify(body),
    },
    () => reply,
  );
  if (response.status === 200) {
    return { refused: undefined, events: readAwsEvents(response.body as Uint8Array) };
  }
  expect(response.headers["x-amzn-errortype"]).toBe("ValidationException");
  const { message } = JSON.parse(response.body as string) as { message: string };
  return { refused: message, events: [] };
}

const user = (text: string): JsonObject => ({ role: "user", content: [{ text }] });

/** The reply to a first question, as Converse takes it back. */
function converseTurn(vendor: StrictVendor, body: JsonObject, model = opus): JsonObject {
  const { refused, events } = send(vendor, ["converse-stream", body, model]);
  expect(refused).toBeUndefined();
  const deltas = events.flatMap(([name, { delta }]) =>
    name === "contentBlockDelta" ? [delta as JsonObject] : [],
  );
  const reasoning = deltas
    .map(({ reasoningContent }) => reasoningContent)
    .filter((content) => isJsonObject(content));
  const join = (from: readonly JsonObject[], key: string): string =>
    from.map((each) => (each[key] as string | undefined) ?? "").join("");
  const reasoningText = { text: join(reasoning, "text"), signature: join(reasoning, "signature") };
  return {
    role: "assistant",
    content: [{ reasoningContent: { reasoningText } }, { text: join(deltas, "text") }],
  };
}

const base = { system: [{ text: "You help." }], messages: [user("One?")] };

/** A body of Converse after one turn. */
function talked(options: Partial<StrictVendorOptions> = {}): {
  readonly vendor: StrictVendor;
  readonly body: JsonObject & { readonly messages: readonly JsonObject[] };
} {
  const vendor = strictBedrock({ now: () => 0, ...options });
  const body = { ...base, messages: [user("One?"), converseTurn(vendor, base), user("Two?")] };
  return { vendor, body };
}

test("Converse streams thinking with its signature, text, calls and usage", () => {
  const vendor = strictBedrock({ now: () => 0 });
  const calls = [{ name: "weather", input: { city: "Oslo" } }];

  const { events } = send(vendor, ["converse-stream", base], { think: "Hm.", text: "Yes.", calls });

  expect(events.map(([name]) => name)).toEqual([
    "messageStart",
    "contentBlockDelta",
    "contentBlockDelta",
    "contentBlockStop",
    "contentBlockDelta",
    "contentBlockStop",
    "contentBlockStart",
    "contentBlockDelta",
    "contentBlockDelta",
    "contentBlockStop",
    "messageStop",
    "metadata",
  ]);
  expect(events.at(-2)?.[1]).toEqual({ stopReason: "tool_use" });
  expect(events.at(-1)?.[1]).toMatchObject({
    usage: { cacheReadInputTokens: 0, cacheWriteInputTokens: 0 },
  });
});

test("thinking goes back through Converse, and is refused behind a changed prompt", () => {
  const { vendor, body } = talked();

  expect(send(vendor, ["converse-stream", body]).refused).toBeUndefined();
  const changed = { ...body, system: [{ text: "You hope." }] };
  expect(send(vendor, ["converse-stream", changed]).refused).toBe(
    `${errors}messages.1.content.0: ${bound} That setting requires the \`${controls}\` value in the \`anthropic-beta\` header. The \`system\` prompt differs from the one this block was created with.`,
  );
});

test("Converse takes the net among the model's fields, and reports what was dropped if asked", () => {
  const { vendor, body } = talked();
  const thinking = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } };
  const changed = {
    ...body,
    system: [{ text: "You hope." }],
    additionalModelRequestFields: { anthropic_beta: [controls], thinking },
    additionalModelResponseFieldPaths: ["/input_transformations"],
  };
  const entry = { path: "messages.1.content.0", reason: "prefix_binding_mismatch" };

  const { events } = send(vendor, ["converse-stream", changed]);

  expect(events.at(-2)?.[1]).toEqual({
    stopReason: "end_turn",
    additionalModelResponseFields: {
      input_transformations: [{ type: "thinking_dropped", ...entry }],
    },
  });
  expect(vendor.dropped).toEqual([entry]);
});

type Row = readonly [name: string, body: JsonObject, refused: string | undefined];

function named(
  rows: readonly Row[],
): readonly (readonly [string, string, JsonObject, string | undefined])[] {
  return rows.map(([name, body, refused]) => {
    return [name, refused === undefined ? "accepted" : "refused", body, refused];
  });
}

const call = { toolUse: { toolUseId: "c1", name: "weather", input: {} } };
const converse: readonly Row[] = [
  [
    "calls and results",
    {
      messages: [
        user("A"),
        { role: "assistant", content: [call] },
        { role: "user", content: [{ toolResult: { toolUseId: "c1", content: [{ text: "4" }] } }] },
      ],
      toolConfig: {
        tools: [{ toolSpec: { name: "weather", inputSchema: { json: { type: "object" } } } }],
      },
    },
    undefined,
  ],
  [
    "a call without a declaration of tools",
    {
      messages: [
        user("A"),
        { role: "assistant", content: [call] },
        { role: "user", content: [{ toolResult: { toolUseId: "c1", content: [{ text: "4" }] } }] },
      ],
    },
    "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
  ],
  [
    "a system message",
    { messages: [user("A"), { role: "system", content: [{ text: "B" }] }] },
    "1 validation error detected: Value 'system' at 'messages.2.member.role' failed to satisfy constraint: Member must satisfy enum value set: [user, assistant]",
  ],
  [
    "two messages of one role",
    { messages: [user("A"), user("B")] },
    "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
  ],
  [
    "a blank text",
    { messages: [user(" ")] },
    "The text field in the ContentBlock object at messages.0.content.0 is blank. Add text to the text field, and try again.",
  ],
  [
    "the net without its beta",
    {
      messages: [user("A")],
      additionalModelRequestFields: { thinking: { type: "adaptive", block_binding: {} } },
    },
    `${errors}thinking.adaptive.block_binding: Extra inputs are not permitted`,
  ],
  [
    "five cache points",
    {
      messages: [
        {
          role: "user",
          content: ["A", "B", "C", "D", "E"].flatMap((text) => [
            { text },
            { cachePoint: { type: "default" } },
          ]),
        },
      ],
    },
    `${errors}A maximum of 4 blocks with cache_control may be provided. Found 5.`,
  ],
];

test.for(named(converse))("Converse with %s is %s", ([, , body, refused]) => {
  expect(send(strictBedrock({ now: () => 0 }), ["converse-stream", body]).refused).toBe(refused);
});

test("a cache point writes, and the next request reads", () => {
  const vendor = strictBedrock({ now: () => 0 });
  const long = "All work and no play makes a model dull. ".repeat(200);
  const body = { ...base, system: [{ text: long }, { cachePoint: { type: "default" } }] };

  const usage = (): JsonObject =>
    send(vendor, ["converse-stream", body]).events.at(-1)?.[1]["usage"] as JsonObject;
  const written = usage()["cacheWriteInputTokens"];
  expect(Number(written)).toBeGreaterThan(2000);
  expect(usage()).toMatchObject({ cacheReadInputTokens: written, cacheWriteInputTokens: 0 });
});

test("thinking of another account is dropped", () => {
  const { body } = talked({ account: "a" });
  const vendor = strictBedrock({ now: () => 0, account: "b" });

  expect(send(vendor, ["converse-stream", body]).refused).toBeUndefined();
  expect(vendor.dropped).toEqual([
    { path: "messages.1.content.0", reason: "organization_binding_mismatch" },
  ]);
});

test("thinking of Haiku 5.5 is read by other models, and thinking of Opus 5.5 is not", () => {
  for (const [writer, reasons] of [
    ["anthropic.claude-haiku-5-5", []],
    [opus, ["model_binding_mismatch"]],
  ] as const) {
    const vendor = strictBedrock({ now: () => 0 });
    const body = {
      ...base,
      messages: [user("One?"), converseTurn(vendor, base, writer), user("Two?")],
    };
    send(vendor, ["converse-stream", body, "anthropic.claude-fable-5-1"]);

    expect(vendor.dropped.map(({ reason }) => reason)).toEqual(reasons);
  }
});

const invoke = {
  anthropic_version: "bedrock-2023-05-31",
  max_tokens: 100,
  system: "You help.",
  tools: [weather],
  messages: [{ role: "user", content: "One?" }],
};

test("InvokeModel streams the model's own events, and binds thinking", () => {
  const vendor = strictBedrock({ now: () => 0 });
  const { events } = send(vendor, ["invoke-with-response-stream", invoke]);
  const own = events.map(
    ([, { bytes }]) => JSON.parse(Buffer.from(bytes as string, "base64").toString()) as JsonObject,
  );
  const content = blocksOf(own);
  expect(content).toMatchObject([
    { type: "thinking", thinking: "Hm." },
    { type: "text", text: "Yes." },
  ]);
  const messages = [
    ...invoke.messages,
    { role: "assistant", content },
    { role: "user", content: "Two?" },
  ];

  const again = { ...invoke, messages } as unknown as JsonObject;
  expect(send(vendor, ["invoke-with-response-stream", again]).refused).toBeUndefined();
  const changed = { ...again, anthropic_beta: [controls], tools: [] };
  expect(send(vendor, ["invoke-with-response-stream", changed]).refused).toBe(
    `messages.1.content.0: ${bound} The \`tools\` list differs from the one this block was created with.`,
  );
});

const bodies: readonly Row[] = [
  [
    "a system message",
    { messages: [...invoke.messages, { role: "system", content: "B" }] },
    undefined,
  ],
  ["a model", { model: opus }, "model: Extra inputs are not permitted"],
  [
    "a request for a summary",
    { compaction: { type: "summarize" } },
    "compaction: Extra inputs are not permitted",
  ],
  [
    "a beta of the Claude API",
    { anthropic_beta: ["inline-tools-2026-09-15"] },
    "invalid beta flag",
  ],
  ["no version", { anthropic_version: "" }, "anthropic_version: Field required"],
];

test.for(named(bodies))("InvokeModel with %s is %s", ([, , fields, refused]) => {
  const body = { ...invoke, ...fields };
  const vendor = strictBedrock({ now: () => 0 });

  expect(send(vendor, ["invoke-with-response-stream", body]).refused).toBe(refused);
});

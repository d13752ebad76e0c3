import type { JsonObject } from "@millrace/core";
import { expect, test } from "vitest";
import { MessagesClient, weather } from "../../testing/messages-client.ts";
import { strictAnthropic } from "../anthropic.ts";
import type { StrictVendorOptions } from "../vendor.ts";

const controls = "thinking-binding-controls-2026-08-01";
const bound =
  'Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';
const needsHeader = `That setting requires the \`${controls}\` value in the \`anthropic-beta\` header.`;

/** A client after three questions, each with thinking: at messages 1, 3 and 5. */
function talked(options: Partial<StrictVendorOptions> = {}): MessagesClient {
  const client = new MessagesClient(strictAnthropic({ now: () => 0, ...options }));
  for (const question of ["One?", "Two?", "Three?"]) {
    expect(client.ask(question).refused).toBeUndefined();
  }
  return client.append({ role: "user", content: "Four?" });
}

const isThinking = ({ type }: JsonObject): boolean => type === "thinking";
const plain = (blocks: readonly JsonObject[]): readonly JsonObject[] =>
  blocks.filter((block) => !isThinking(block));
const system = (text: string): JsonObject => ({ system: text });

const accepted: readonly [name: string, change: (client: MessagesClient) => unknown][] = [
  ["nothing changes", (client) => client],
  ["the first block is removed", (client) => client.edit(1, plain)],
  ["the first two are removed", (client) => client.edit(1, plain).edit(3, plain)],
  ["the last block is removed", (client) => client.edit(5, plain)],
  ["all are removed", (client) => client.edit(1, plain).edit(3, plain).edit(5, plain)],
  [
    "a mark is added",
    (client) =>
      client.edit(0, (blocks) => [{ ...blocks[0], cache_control: { type: "ephemeral" } }]),
  ],
  [
    "the order of keys changes",
    (client) => client.edit(0, ([block]) => [{ text: block?.["text"] ?? "", type: "text" }]),
  ],
  [
    "the effort changes",
    (client) => (client.fields = { ...client.fields, output_config: { effort: "low" } }),
  ],
  ["the limit changes", (client) => (client.fields = { ...client.fields, max_tokens: 2000 })],
  [
    "the choice of tools changes",
    (client) => (client.fields = { ...client.fields, tool_choice: { type: "none" } }),
  ],
  [
    "the system prompt becomes a list of blocks",
    (client) =>
      (client.fields = { ...client.fields, system: [{ type: "text", text: "You help." }] }),
  ],
  [
    "a deferred tool is added that nothing refers to",
    (client) =>
      (client.fields = {
        ...client.fields,
        tools: [weather, { ...weather, name: "later", defer_loading: true }],
      }),
  ],
  [
    "the visible text of thinking changes",
    (client) => client.edit(1, ([block, ...rest]) => [{ ...block, thinking: "Oh." }, ...rest]),
  ],
  [
    "instructions are appended",
    (client) => client.append({ role: "system", content: "Answer in French." }),
  ],
];

test.for(accepted)("thinking stays valid if %s", ([, change]) => {
  const client = talked();
  change(client);

  expect(client.continue().refused).toBeUndefined();
  expect(client.ask("Five?").refused).toBeUndefined();
  expect(client.vendor.dropped).toEqual([]);
});

const refused: readonly [
  name: string,
  change: (client: MessagesClient) => unknown,
  path: string,
  sentence: string,
][] = [
  [
    "a block between others is removed",
    (client) => client.edit(3, plain),
    "messages.5.content.0",
    "",
  ],
  [
    "the system prompt changes",
    (client) => (client.fields = { ...client.fields, ...system("You help gladly.") }),
    "messages.1.content.0",
    " The `system` prompt differs from the one this block was created with.",
  ],
  [
    "a tool's description changes",
    (client) =>
      (client.fields = { ...client.fields, tools: [{ ...weather, description: "Weather" }] }),
    "messages.1.content.0",
    " The `tools` list differs from the one this block was created with.",
  ],
  [
    "a tool is added",
    (client) =>
      (client.fields = { ...client.fields, tools: [weather, { ...weather, name: "more" }] }),
    "messages.1.content.0",
    " The `tools` list differs from the one this block was created with.",
  ],
  [
    "an earlier word changes",
    (client) => client.edit(2, () => [{ type: "text", text: "Twice?" }]),
    "messages.3.content.0",
    " Content before this block differs from when it was created, first at `messages.2.content.0`.",
  ],
  [
    "a text is added to an earlier message",
    (client) => client.edit(2, (blocks) => [...blocks, { type: "text", text: "Now." }]),
    "messages.3.content.0",
    " Content before this block differs from when it was created, first at `messages.2.content.1`.",
  ],
];

test.for(refused)("a request is refused if %s", ([, change, path, sentence]) => {
  const client = talked();
  change(client);

  expect(client.send().refused).toBe(`${path}: ${bound} ${needsHeader}${sentence}`);
  client.betas = [controls];
  expect(client.send().refused).toBe(`${path}: ${bound}${sentence}`);
});

test("a block that was removed can't be put back", () => {
  const client = talked();
  const whole = client.messages[3]?.["content"] as readonly JsonObject[];
  client.edit(3, plain).edit(5, plain);
  client.continue();
  client.edit(3, () => whole).append({ role: "user", content: "Five?" });

  expect(client.send().refused).toBe(`messages.7.content.0: ${bound} ${needsHeader}`);
});

test("dropped blocks are reported, and so are all behind them", () => {
  const client = talked();
  client.betas = [controls];
  client.fields = {
    ...client.fields,
    thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } },
  };

  expect(client.send().transformations).toEqual([]);
  client.edit(2, () => [{ type: "text", text: "Twice?" }]);
  const entry = { type: "thinking_dropped", reason: "prefix_binding_mismatch" };
  expect(client.send().transformations).toEqual([
    { ...entry, path: "messages.3.content.0" },
    { ...entry, path: "messages.5.content.0" },
  ]);
  expect(client.vendor.dropped).toHaveLength(2);
  expect(client.vendor.refused).toEqual([]);
});

test("a block behind dropped ones is dropped, though it was made behind them", () => {
  const client = talked();
  client.betas = [controls];
  const block_binding = { prefix_mismatch_behavior: "drop_block" };
  client.fields = { ...client.fields, thinking: { type: "adaptive", block_binding } };
  client.edit(2, () => [{ type: "text", text: "Twice?" }]);
  client.continue();
  client.append({ role: "user", content: "Five?" });
  const paths = (client.send().transformations as readonly JsonObject[]).map(({ path }) => path);

  expect(paths).toEqual(["messages.3.content.0", "messages.5.content.0", "messages.7.content.0"]);
  // It follows the last block that was kept, so that it is valid once the others are removed.
  client.edit(3, plain).edit(5, plain);
  expect(client.send().transformations).toEqual([]);
});

test("an account from before the check reports a change and answers, unless the request asks for the check", () => {
  const client = talked({ enforce: false });
  client.edit(2, () => [{ type: "text", text: "Twice?" }]);

  expect(client.send()).toMatchObject({ status: 200, transformations: undefined });
  client.betas = [controls];
  const entry = { type: "thinking_mismatch_allowed", reason: "prefix_binding_mismatch" };
  expect(client.send().transformations).toEqual([
    { ...entry, path: "messages.3.content.0" },
    { ...entry, path: "messages.5.content.0" },
  ]);
  const block_binding = { prefix_mismatch_behavior: "error" };
  client.fields = { ...client.fields, thinking: { type: "adaptive", block_binding } };
  expect(client.send().refused).toContain("bound to a different conversation");
});

test("a changed signature is refused whatever the request asks for", () => {
  const client = talked();
  client.betas = [controls];
  client.edit(1, ([block, ...rest]) => {
    const signature = block?.["signature"] as string;
    const other = signature.startsWith("A") ? "B" : "A";
    return [{ ...block, signature: other + signature.slice(1) }, ...rest];
  });
  const message = "messages.1.content.0: Invalid `signature` in `thinking` block";

  expect(client.send().refused).toBe(message);
  const block_binding = { prefix_mismatch_behavior: "drop_block" };
  client.fields = { ...client.fields, thinking: { type: "adaptive", block_binding } };
  expect(client.send().refused).toBe(message);
});

test("models that don't check take a changed history", () => {
  const client = new MessagesClient(strictAnthropic({ now: () => 0 }));
  client.fields = { ...client.fields, model: "claude-opus-5" };
  client.ask("One?");
  client.fields = { ...client.fields, system: "You help gladly." };

  expect(client.ask("Two?").refused).toBeUndefined();
});

test("a turn-scoped message counts, also when it is cleared", () => {
  const client = new MessagesClient(strictAnthropic({ now: () => 0 }));
  client.betas = ["mid-conversation-system-clear-at-2026-08-21"];
  const note = { role: "system", content: "It is late.", clear_at: "next_user_message" };
  client.append({ role: "user", content: "One?" }, note).continue();
  client.append({ role: "user", content: "Two?" });

  expect(client.copy().send().refused).toBeUndefined();
  const changed = client.copy();
  changed.messages = changed.messages.map((message) =>
    message === note ? { ...note, clear_at: "never" } : message,
  );
  expect(changed.send().refused).toContain("first at `messages.1.content.0`");
});

const controlled = {
  thinking: { type: "adaptive" },
};

test.for([
  ["claude-opus-5", "claude-opus-5-5", true],
  ["claude-opus-5-5", "claude-fable-5-1", true],
  ["claude-opus-5", "claude-fable-5-1", true],
  ["claude-sonnet-5-5", "claude-opus-5-5", true],
  ["claude-sonnet-5", "claude-sonnet-5-5", true],
  ["claude-fable-5-1", "claude-mythos-5-2", true],
  ["claude-fable-5-1", "claude-opus-5-5", false],
  ["claude-opus-5-5", "claude-sonnet-5", false],
  ["claude-opus-5", "claude-sonnet-5-5", false],
  ["claude-opus-5-5", "claude-haiku-5-5", false],
  ["claude-sonnet-5-5", "claude-fable-5-1", false],
] as const)("thinking of %s is read by %s: %s", ([writer, reader, isRead]) => {
  const client = new MessagesClient(strictAnthropic({ now: () => 0 }));
  client.betas = [controls];
  client.fields = { ...client.fields, ...controlled, model: writer };
  client.ask("One?");
  client.fields = { ...client.fields, model: reader };

  const reason = "model_binding_mismatch";
  const entry = { type: "thinking_dropped", path: "messages.1.content.0", reason };
  expect(client.ask("Two?").transformations).toEqual(isRead ? [] : [entry]);
  // Whatever a model can't read is sent on, and read again by its own model.
  client.fields = { ...client.fields, model: writer };
  expect(client.ask("Three?").refused).toBeUndefined();
});

test("thinking of Sonnet 5.5 belongs to its account, and that of Opus 5.5 does not", () => {
  for (const [model, reasons] of [
    ["claude-sonnet-5-5", ["organization_binding_mismatch"]],
    ["claude-opus-5-5", []],
  ] as const) {
    const first = new MessagesClient(strictAnthropic({ now: () => 0, account: "a" }));
    first.fields = { ...first.fields, model };
    first.ask("One?");
    const second = new MessagesClient(strictAnthropic({ now: () => 0, account: "b" }));
    second.fields = first.fields;
    second.messages = first.messages;

    expect(second.ask("Two?").refused).toBeUndefined();
    expect(second.vendor.dropped.map(({ reason }) => reason)).toEqual(reasons);
  }
});

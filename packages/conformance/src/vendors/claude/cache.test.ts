import type { JsonObject } from "@millrace/core";
import { expect, test } from "vitest";
import { MessagesClient, weather } from "../../testing/messages-client.ts";
import { strictAnthropic } from "../anthropic.ts";

const long = "All work and no play makes a model dull. ".repeat(200);
const mark = { cache_control: { type: "ephemeral" } };
const longMark = { cache_control: { type: "ephemeral", ttl: "1h" } };
const text = (value: string, marked: JsonObject = {}): JsonObject => ({
  type: "text",
  text: value,
  ...marked,
});

/** A clock of minutes, and a client whose system prompt is long and marked. */
function start(marked: JsonObject = mark): {
  readonly client: MessagesClient;
  wait: (minutes: number) => void;
} {
  let now = 0;
  const client = new MessagesClient(strictAnthropic({ now: () => now }));
  client.fields = { ...client.fields, system: [text(long, marked)] };
  client.append({ role: "user", content: [text("One?")] });
  return { client, wait: (minutes) => (now += minutes * 60_000) };
}

function counts(client: MessagesClient): { readonly read: number; readonly written: number } {
  const { usage, refused } = client.send();
  expect(refused).toBeUndefined();
  return {
    read: Number(usage["cache_read_input_tokens"]),
    written: Number(usage["cache_creation_input_tokens"]),
  };
}

test("the first request writes up to its mark, and the second one reads that", () => {
  const { client } = start();

  const { read, written } = counts(client);
  expect([read, written > 2000]).toEqual([0, true]);
  expect(counts(client)).toEqual({ read: written, written: 0 });
  const { plain, total, ...bill } = client.vendor.bill;
  expect(bill).toEqual({ requests: 2, read: written, write: written });
  expect(total).toBe(plain + 2 * written);
});

test("a prefix expires after five minutes, and reading it keeps it for five more", () => {
  const { client, wait } = start();
  const { written } = counts(client);

  wait(4);
  expect(counts(client).read).toBe(written);
  wait(4);
  expect(counts(client).read).toBe(written);
  wait(5);
  expect(counts(client)).toEqual({ read: 0, written });
});

test("a prefix that a later mark finds is kept for five more minutes", () => {
  const { client, wait } = start();
  client.fields = { ...client.fields, system: [text(long)] };
  client.messages = [{ role: "user", content: [text("One?", mark)] }];
  const { written } = counts(client);
  wait(4);
  client.messages = [{ role: "user", content: [text("One?"), text("Two?", mark)] }];
  expect(counts(client).read).toBe(written);
  wait(4);
  client.messages = [{ role: "user", content: [text("One?", mark)] }];

  expect(counts(client).read).toBe(written);
});

test("a mark of an hour keeps a prefix for an hour", () => {
  const { client, wait } = start(longMark);
  const { written } = counts(client);

  wait(59);
  expect(counts(client).read).toBe(written);
  wait(60);
  expect(client.send().usage).toMatchObject({
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: written },
  });
});

test("a prefix of fewer tokens than the least is neither written nor read", () => {
  const { client } = start();
  client.fields = { ...client.fields, tools: [], system: [text("x".repeat(4000), mark)] };

  expect([counts(client), counts(client)]).toEqual([
    { read: 0, written: 0 },
    { read: 0, written: 0 },
  ]);
});

/** Blocks of text, with a mark on the last one. */
function blocks(count: number): readonly JsonObject[] {
  return Array.from({ length: count }, (_, at) =>
    text(`Word ${at}.`, at === count - 1 ? mark : {}),
  );
}

test.for([
  [19, "reads"],
  [20, "misses"],
] as const)("a mark %i blocks behind the last one %s", ([count, outcome]) => {
  const { client } = start();
  client.fields = { ...client.fields, system: [text(long)] };
  client.messages = [{ role: "user", content: [text("One?", mark)] }];
  const { written } = counts(client);
  client.messages = [{ role: "user", content: [text("One?"), ...blocks(count)] }];

  expect(counts(client).read).toBe(outcome === "reads" ? written : 0);
});

test("an earlier mark is found however many blocks follow it", () => {
  const { client } = start();
  const { written } = counts(client);
  client.messages = [{ role: "user", content: [text("One?"), ...blocks(40)] }];

  expect(counts(client).read).toBe(written);
});

const changes: readonly [
  name: string,
  fields: JsonObject,
  outcome: "all" | "system" | "nothing",
][] = [
  ["the limit", { max_tokens: 2000 }, "all"],
  ["the choice of tools", { tool_choice: { type: "none" } }, "system"],
  ["thinking", { thinking: { type: "disabled" } }, "system"],
  ["the model", { model: "claude-fable-5-1" }, "nothing"],
  ["the effort", { output_config: { effort: "low" } }, "nothing"],
  ["the format", { output_config: { format: { type: "json_schema", schema: {} } } }, "nothing"],
  ["a tool", { tools: [{ ...weather, description: "Other" }] }, "nothing"],
  [
    "the order of keys in a tool",
    { tools: [Object.fromEntries(Object.entries(weather).toReversed())] },
    "all",
  ],
];

test.for(changes)("after a change of %s the cache gives: %s", ([, fields, outcome]) => {
  const { client } = start();
  client.messages = [{ role: "user", content: [text(long, mark)] }];
  const { written } = counts(client);
  client.fields = { ...client.fields, ...fields };

  const { read } = counts(client);
  if (outcome === "all") expect(read).toBe(written);
  if (outcome === "nothing") expect(read).toBe(0);
  if (outcome === "system") expect(read > 2000 && read < written - 2000).toBe(true);
});

test("the first tool that a message defines costs a miss if there was none before", () => {
  const definition = {
    role: "system",
    content: [
      {
        type: "tool_addition",
        tool: { type: "tool_definition", definition: { ...weather, name: "more" } },
      },
    ],
  };
  for (const [tools, isRead] of [
    [[weather], true],
    [[], false],
  ] as const) {
    const { client } = start();
    client.betas = ["inline-tools-2026-09-15"];
    client.fields = { ...client.fields, tools: [...tools] };
    counts(client);
    client.append(definition);

    expect(counts(client).read > 0).toBe(isRead);
  }
});

test("a cleared message costs nothing, and ends the prefix before it", () => {
  const { client } = start();
  client.betas = ["mid-conversation-system-clear-at-2026-08-21"];
  client.messages = [
    { role: "user", content: [text("One?", mark)] },
    { role: "system", content: long, clear_at: "next_user_message" },
  ];
  counts(client);
  const before = client.vendor.bill.total;
  client.append(
    { role: "assistant", content: [text("Yes.")] },
    { role: "user", content: [text("Two?", mark)] },
  );

  expect(counts(client).read > 2000).toBe(true);
  expect(client.vendor.bill.total).toBeLessThan(2 * before - 2000);
});

test("thinking that is dropped is not billed", () => {
  const { client } = start();
  client.betas = ["thinking-binding-controls-2026-08-01"];
  const block_binding = { prefix_mismatch_behavior: "drop_block" };
  client.fields = {
    ...client.fields,
    system: "You help.",
    thinking: { type: "adaptive", block_binding },
  };
  client.continue({ think: long, text: "Yes." });
  client.append({ role: "user", content: "Two?" });

  const kept = Number(client.send().usage["input_tokens"]);
  client.fields = { ...client.fields, system: "You hope." };
  expect(Number(client.send().usage["input_tokens"])).toBe(kept - Math.ceil(long.length / 4));
});

test("a mark of the whole request is on its last block", () => {
  const { client } = start();
  client.fields = { ...client.fields, system: [text(long)], ...mark };
  const { written } = counts(client);
  client.append(
    { role: "assistant", content: [text("Yes.")] },
    { role: "user", content: [text("Two?")] },
  );

  expect(counts(client).read).toBe(written);
});

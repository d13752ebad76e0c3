import type { JsonObject } from "@millrace/core";
import { expect, test } from "vitest";
import { MessagesClient, weather } from "../../testing/messages-client.ts";
import { strictAnthropic } from "../anthropic.ts";

const beta = "compact-2026-09-04";

/** A client after three questions, each with thinking. */
function talked(fields: JsonObject = {}): MessagesClient {
  const client = new MessagesClient(strictAnthropic({ now: () => 0 }));
  client.betas = [beta];
  client.fields = { ...client.fields, ...fields };
  for (const question of ["One?", "Two?", "Three?"]) client.ask(question);
  return client;
}

/** The block that summarises the first messages of a client. */
function summarise(client: MessagesClient, count: number, fields: JsonObject = {}): JsonObject {
  const asking = client.copy();
  asking.fields = { ...asking.fields, ...fields, compaction: { type: "summarize" } };
  asking.messages = asking.messages.slice(0, count);
  const { refused, stop, blocks } = asking.send({ text: "They counted." });
  expect([refused, stop]).toEqual([undefined, "compaction"]);
  expect(blocks).toMatchObject([{ type: "compaction", content: "They counted." }]);
  return blocks[0] as JsonObject;
}

/** Puts a block in the place of the first messages. */
function swap(client: MessagesClient, count: number, block: JsonObject): MessagesClient {
  const copy = client.copy();
  copy.messages = [{ role: "assistant", content: [block] }, ...copy.messages.slice(count)];
  return copy.append({ role: "user", content: "Four?" });
}

test("thinking of kept turns stays valid behind a summary", () => {
  const client = talked();
  for (const count of [1, 2, 3, 4, 6]) {
    const swapped = swap(client, count, summarise(client, count));

    expect(swapped.continue().refused).toBeUndefined();
    expect(swapped.ask("Five?").refused).toBeUndefined();
  }
});

test("thinking stays valid through a second summary", () => {
  const client = talked();
  const once = swap(client, 2, summarise(client, 2));
  once.continue();
  // The summary and the second turn.
  const twice = swap(once, 3, summarise(once, 3));

  expect(twice.continue().refused).toBeUndefined();
});

test("thinking behind a summary is refused behind the messages that the summary covers", () => {
  const client = talked();
  const swapped = swap(client, 6, summarise(client, 6));
  swapped.continue();
  // Without their own thinking, so that the new block is the first one.
  for (const at of [1, 3, 5]) client.edit(at, (blocks) => blocks.slice(1));
  client.append(...swapped.messages.slice(1), { role: "user", content: "Five?" });

  expect(client.send().refused).toMatch(/^messages\.7\.content\.0: .* different conversation/);
});

const broken: readonly [name: string, swapped: (client: MessagesClient) => MessagesClient][] = [
  [
    "the summary was made with other instructions",
    (client) => swap(client, 1, summarise(client, 1, { system: "You hope." })),
  ],
  [
    "the tools change behind the summary",
    (client) => {
      const swapped = swap(client, 2, summarise(client, 2));
      swapped.fields = { ...swapped.fields, tools: [{ ...weather, name: "more" }] };
      return swapped;
    },
  ],
  [
    "the summary was made by a model that doesn't check",
    (client) => swap(client, 2, summarise(client, 2, { model: "claude-opus-5" })),
  ],
  [
    "a message is left out behind the summary",
    (client) => {
      const swapped = swap(client, 2, summarise(client, 2));
      swapped.messages = swapped.messages.filter((_, at) => at !== 1);
      return swapped;
    },
  ],
];

test.for(broken)("thinking of kept turns is refused if %s", ([, swapped]) => {
  expect(swapped(talked()).send().refused).toContain("bound to a different conversation");
});

test("thinking of kept turns is refused if the first kept message has the last role covered", () => {
  const client = new MessagesClient(strictAnthropic({ now: () => 0 }));
  client.betas = [beta];
  client.append({ role: "user", content: "One?" }, { role: "user", content: "Two?" }).continue();
  const swapped = swap(client, 1, summarise(client, 1));

  expect(swapped.send().refused).toContain("bound to a different conversation");
});

const faults: readonly [
  name: string,
  change: (client: MessagesClient, block: JsonObject) => unknown,
  message: string,
  code: string | undefined,
][] = [
  [
    "its content is changed",
    (client) => client.edit(0, ([block]) => [{ ...block, content: "They slept." }]),
    "messages.0.content.0: `compaction` block `content` does not match its `signature`",
    "compaction_content_mismatch",
  ],
  [
    "its signature is changed",
    (client) => client.edit(0, ([block]) => [{ ...block, signature: "AAAA" }]),
    "messages.0.content.0: Invalid `signature` in `compaction` block",
    "compaction_signature_invalid",
  ],
  [
    "its signature is left out",
    (client) => client.edit(0, () => [{ type: "compaction", content: "They counted." }]),
    "messages.0.content.0: a `compaction` block with `content` requires its `signature`",
    undefined,
  ],
  [
    "a message stands before it",
    (client) => (client.messages = [{ role: "user", content: "Zero?" }, ...client.messages]),
    "messages.1.content.0: the `compaction` block must come first in `messages`",
    "compaction_block_misplaced",
  ],
  [
    "it is sent twice",
    (client, block) => client.edit(0, () => [block, block]),
    "messages: at most one `compaction` block may be provided",
    undefined,
  ],
  [
    "it has a field more",
    (client) => client.edit(0, ([block]) => [{ ...block, citations: null }]),
    "messages.0.content.0.compaction.citations: Extra inputs are not permitted",
    undefined,
  ],
];

test.for(faults)("a summary is refused if %s", ([, change, message, code]) => {
  const client = talked();
  const block = summarise(client, 6);
  const swapped = swap(client, 6, block);
  change(swapped, block);

  expect(swapped.send()).toMatchObject({ refused: message, code });
});

test("a summary is refused without its beta", () => {
  const client = talked();
  const swapped = swap(client, 6, summarise(client, 6));
  swapped.betas = [];

  expect(swapped.send().refused).toMatch(
    /^messages\.0\.content\.0: Input tag 'compaction' found using 'type' does not match/,
  );
});

const requests: readonly [
  name: string,
  fields: JsonObject,
  betas: readonly string[],
  message: string,
][] = [
  [
    "without its beta",
    {},
    [],
    "compaction: the `compaction` parameter requires anthropic-beta: compact-2026-09-04",
  ],
  ["of a Haiku", { model: "claude-haiku-5-5" }, [beta], "compaction: not supported on this model"],
  [
    "with stop sequences",
    { stop_sequences: ["."] },
    [beta],
    "compaction: cannot be combined with `stop_sequences`",
  ],
  [
    "with a format",
    { output_config: { format: {} } },
    [beta],
    "compaction: cannot be combined with `output_config.format`",
  ],
  [
    "with a forced tool",
    { tool_choice: { type: "any" } },
    [beta],
    "compaction: cannot be combined with `tool_choice`",
  ],
];

test.for(requests)("a request for a summary %s is refused", ([, fields, betas, message]) => {
  const client = new MessagesClient(strictAnthropic({ now: () => 0 }));
  client.betas = betas;
  client.fields = { ...client.fields, ...fields, compaction: { type: "summarize" } };
  client.append({ role: "user", content: "One?" });

  expect(client.send().refused).toBe(message);
});

test("a request for a summary is refused while a call has no result", () => {
  const client = new MessagesClient(strictAnthropic({ now: () => 0 }));
  client.betas = [beta];
  client.ask("One?", { calls: [{ name: "weather", input: {} }] });
  client.fields = { ...client.fields, compaction: { type: "summarize" } };

  expect(client.send().refused).toContain("`tool_use` ids were found without `tool_result` blocks");
});

test("the tokens of a summary are an iteration, and not in the sums", () => {
  const client = talked();
  client.fields = { ...client.fields, compaction: { type: "summarize" } };

  expect(client.send({ text: "They counted." }).usage).toMatchObject({
    input_tokens: 0,
    output_tokens: 0,
    iterations: [{ type: "compaction", cache_read_input_tokens: 0 }],
  });
});

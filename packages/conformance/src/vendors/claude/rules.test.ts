import { expect, test } from "vitest";
import {
  assistant,
  betas,
  call,
  longMark,
  mark,
  plainTags,
  result,
  testRules,
  text,
  unexpectedTag,
  user,
} from "../../testing/claude-rules.ts";
import type { Rule } from "../../testing/claude-rules.ts";
import { MessagesClient } from "../../testing/messages-client.ts";
import { strictAnthropic } from "../anthropic.ts";

const pairs: readonly Rule[] = [
  {
    name: "results in any order, before other content",
    messages: [user("A"), assistant(call("c1"), call("c2")), user(result("c2"), result("c1"), "B")],
  },
  {
    name: "a missing result",
    messages: [user("A"), assistant(call("c1"), call("c2")), user(result("c1"))],
    refused:
      "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: c2. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
  },
  {
    name: "a result behind other content",
    messages: [user("A"), assistant(call("c1")), user("B", result("c1"))],
    refused:
      "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: c1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
  },
  {
    name: "a result without its call",
    messages: [user(result("c1"))],
    refused:
      "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: c1. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
  },
  {
    name: "an id that is used twice",
    messages: [
      user("A"),
      assistant(call("c1")),
      user(result("c1")),
      assistant(call("c1")),
      user(result("c1")),
    ],
    refused: "messages: `tool_use` ids must be unique",
  },
];

const content: readonly Rule[] = [
  {
    name: "an assistant message at the end",
    messages: [user("A"), assistant(text("B"))],
    refused:
      "This model does not support assistant message prefill. The conversation must end with a user message.",
  },
  {
    name: "an assistant message at the start",
    messages: [assistant(text("B")), user("A")],
    refused: 'messages: first message must use the "user" role',
  },
  {
    name: "an empty text",
    messages: [user("")],
    refused: "messages: text content blocks must be non-empty",
  },
  {
    name: "a blank text",
    messages: [user(" \n")],
    refused: "messages: text content blocks must contain non-whitespace text",
  },
  {
    name: "an unknown block",
    messages: [user({ type: "poem" })],
    refused: `messages.0.content.0: ${unexpectedTag("poem", plainTags)}`,
  },
  {
    name: "an unknown field of a block",
    messages: [user({ ...text("A"), colour: "red" })],
    refused: "messages.0.content.0.text.colour: Extra inputs are not permitted",
  },
  {
    name: "an unknown field of the body",
    messages: [user("A")],
    fields: { colour: "red" },
    refused: "colour: Extra inputs are not permitted",
  },
  {
    name: "thinking without a signature",
    messages: [user("A"), assistant({ type: "thinking", thinking: "Hm." }, text("B")), user("C")],
    refused: "messages.1.content.0.thinking.signature: Field required",
  },
];

const settings: readonly Rule[] = [
  {
    name: "the net with its beta",
    messages: [user("A")],
    fields: {
      thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "error" } },
    },
    betas: [betas.controls],
  },
  {
    name: "the net without its beta",
    messages: [user("A")],
    fields: {
      thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "error" } },
    },
    refused: "thinking.adaptive.block_binding: Extra inputs are not permitted",
  },
  {
    name: "the net without thinking",
    messages: [user("A")],
    fields: { thinking: { type: "disabled", block_binding: {} } },
    betas: [betas.controls],
    refused: "thinking.disabled.block_binding: Extra inputs are not permitted",
  },
  {
    name: "the net with another value",
    messages: [user("A")],
    fields: { thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "skip" } } },
    betas: [betas.controls],
    refused:
      "thinking.adaptive.block_binding.prefix_mismatch_behavior: Input should be 'error' or 'drop_block'",
  },
  {
    name: "an unknown field of the net",
    messages: [user("A")],
    fields: { thinking: { type: "adaptive", block_binding: { mismatch_behavior: "error" } } },
    betas: [betas.controls],
    refused: "thinking.adaptive.block_binding.mismatch_behavior: Extra inputs are not permitted",
  },
  {
    name: "an unknown field of the output",
    messages: [user("A")],
    fields: { output_config: { tone: "kind" } },
    refused: "output_config.tone: Extra inputs are not permitted",
  },
  {
    name: "a beta that the account has not",
    messages: [user("A")],
    betas: ["secret-2026-01-01"],
    refused:
      "Unexpected value(s) `secret-2026-01-01` for the `anthropic-beta` header. Please consult our documentation at platform.claude.com/docs or try again without the header.",
  },
];

const marks: readonly Rule[] = [
  {
    name: "four marks",
    messages: [user(...["A", "B", "C"].map((each) => ({ ...text(each), ...mark })))],
    fields: { system: [{ ...text("S"), ...mark }] },
  },
  {
    name: "five marks",
    messages: [user(...["A", "B", "C", "D"].map((each) => ({ ...text(each), ...mark })))],
    fields: { system: [{ ...text("S"), ...mark }] },
    refused: "A maximum of 4 blocks with cache_control may be provided. Found 5.",
  },
  {
    name: "a mark on thinking",
    messages: [
      user("A"),
      assistant({ type: "thinking", thinking: "", signature: "x", ...mark }, text("B")),
      user("C"),
    ],
    refused: "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted",
  },
  {
    name: "a mark of an hour before one of five minutes",
    messages: [user({ ...text("A"), ...longMark }, { ...text("B"), ...mark })],
  },
  {
    name: "a mark of an hour behind one of five minutes",
    messages: [user({ ...text("A"), ...mark }, { ...text("B"), ...longMark })],
    refused:
      "messages.0.content.1.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
  },
];

testRules([...pairs, ...content, ...settings, ...marks]);

test("a final block of thinking is refused", () => {
  const client = new MessagesClient(strictAnthropic({ now: () => 0 }));
  client.ask("One?");
  client.edit(1, ([thinking]) => (thinking === undefined ? [] : [thinking]));

  expect(client.ask("Two?").refused).toBe(
    "messages.1: The final block in an assistant message cannot be `thinking`.",
  );
});

import {
  assistant,
  betas,
  call,
  mark,
  result,
  system,
  testRules,
  text,
  user,
} from "../../testing/claude-rules.ts";
import type { Rule } from "../../testing/claude-rules.ts";

const anywhere =
  "; the directive-only form (content: [] with output_config) is accepted at any position";
const note = { ...system("Be brief."), clear_at: "next_user_message" };
const effort = { role: "system", content: [], output_config: { effort: "low" } };
const removal = { type: "tool_removal", tool: { type: "tool_reference", name: "weather" } };

const places: readonly Rule[] = [
  { name: "behind a user message, at the end", messages: [user("A"), system("B")] },
  {
    name: "behind a user message, before an assistant message",
    messages: [user("A"), system("B"), assistant(text("C")), user("D")],
  },
  {
    name: "behind results",
    messages: [user("A"), assistant(call("c1")), user(result("c1")), system("B")],
  },
  { name: "several in a row", messages: [user("A"), system("B"), system("C")] },
  {
    name: "behind the result of a tool that the vendor ran",
    messages: [
      user("A"),
      assistant(
        { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
        { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
      ),
      system("B"),
    ],
  },
  {
    name: "first",
    messages: [system("B"), user("A")],
    refused: `messages.0: use the top-level 'system' parameter for the initial system prompt${anywhere}`,
  },
  {
    name: "behind an assistant message",
    messages: [user("A"), assistant(text("B")), system("C"), user("D")],
    refused: `messages.2: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result${anywhere}`,
  },
  {
    name: "between a call and its result",
    messages: [user("A"), assistant(call("c1")), system("B"), user(result("c1"))],
    refused: `messages.2: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result${anywhere}`,
  },
  {
    name: "before a user message",
    messages: [user("A"), system("B"), user("C")],
    refused: `messages.1: role 'system' must precede an 'assistant' message or end the array${anywhere}`,
  },
  {
    name: "for a model that takes none",
    messages: [user("A"), system("B")],
    fields: { model: "claude-sonnet-5" },
    refused: "messages.1: role 'system' is not supported on this model",
  },
  {
    name: "with a picture",
    messages: [user("A"), system({ type: "image", source: {} })],
    refused: "messages.1: role 'system' supports text, tool_addition, and tool_removal blocks only",
  },
  {
    name: "without content",
    messages: [user("A"), { role: "system", content: [] }],
    refused: "messages.1: system content must contain at least one block",
  },
];

const turnScoped: readonly Rule[] = [
  { name: "with its beta", messages: [user("A"), note], betas: [betas.clearAt] },
  {
    name: "cleared by a later user message",
    messages: [user("A"), note, assistant(text("B")), user("C")],
    betas: [betas.clearAt],
  },
  {
    name: "without its beta",
    messages: [user("A"), note],
    refused: "messages.1.clear_at: Extra inputs are not permitted",
  },
  {
    name: "of a user",
    messages: [{ ...user("A"), clear_at: "never" }],
    betas: [betas.clearAt],
    refused: "messages.0.clear_at: clear_at is only permitted on role 'system' messages",
  },
  {
    name: "with another value",
    messages: [user("A"), { ...note, clear_at: "soon" }],
    betas: [betas.clearAt],
    refused: "messages.1.clear_at: Input should be 'next_user_message' or 'never'",
  },
  {
    name: "with a tool change",
    messages: [user("A"), { ...system(removal), clear_at: "next_user_message" }],
    betas: [betas.clearAt, betas.byValue],
    refused:
      "messages.1: a turn-scoped system message supports text blocks only (clear_at: 'next_user_message')",
  },
  {
    name: "with an effort",
    messages: [user("A"), { ...note, output_config: { effort: "low" } }],
    betas: [betas.clearAt, betas.perTurn],
    refused:
      "messages.1: output_config is not permitted on a turn-scoped system message (clear_at: 'next_user_message')",
  },
  {
    name: "with a mark",
    messages: [user("A"), { ...note, content: [{ ...text("B"), ...mark }] }],
    betas: [betas.clearAt],
    refused:
      "messages.1.content.0: cache_control is not permitted on a turn-scoped system message (clear_at: 'next_user_message')",
  },
];

const efforts: readonly Rule[] = [
  { name: "last", messages: [user("A"), effort], betas: [betas.perTurn] },
  { name: "first", messages: [effort, user("A")], betas: [betas.perTurn] },
  {
    name: "before a user message",
    messages: [user("A"), assistant(text("B")), effort, user("C")],
    betas: [betas.perTurn],
  },
  {
    name: "without its beta",
    messages: [user("A"), effort],
    refused: "messages.1.output_config: Extra inputs are not permitted",
  },
  {
    name: "with a format",
    messages: [user("A"), { ...effort, output_config: { format: {} } }],
    betas: [betas.perTurn],
    refused: "messages.1.output_config.format: Extra inputs are not permitted",
  },
  {
    name: "that does not exist",
    messages: [user("A"), { ...effort, output_config: { effort: "most" } }],
    betas: [betas.perTurn],
    refused:
      "messages.1.output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'",
  },
  {
    name: "for a model whose effort is fixed",
    messages: [user("A"), effort],
    fields: { model: "claude-fable-5" },
    betas: [betas.perTurn],
    refused:
      "output_config.effort requires a model that supports per-turn effort; this model does not",
  },
];

testRules([
  ...places.map((rule) => ({ ...rule, name: `a system message ${rule.name}` })),
  ...turnScoped.map((rule) => ({ ...rule, name: `a turn-scoped message ${rule.name}` })),
  ...efforts.map((rule) => ({ ...rule, name: `a message with an effort ${rule.name}` })),
]);

import type { JsonObject } from "@millrace/core";
import { expect, test } from "vitest";
import {
  assistant,
  betas,
  call,
  plainTags,
  result,
  system,
  testRules,
  text,
  unexpectedTag,
  user,
} from "../../testing/claude-rules.ts";
import type { Rule } from "../../testing/claude-rules.ts";
import { MessagesClient, weather } from "../../testing/messages-client.ts";
import { strictAnthropic } from "../anthropic.ts";

const another = { ...weather, name: "more" };
const reference = (type: string, name = "weather"): JsonObject => ({
  type,
  tool: { type: "tool_reference", name },
});
const definition = (tool: JsonObject): JsonObject => ({
  type: "tool_addition",
  tool: { type: "tool_definition", definition: tool },
});

const changes: readonly Rule[] = [
  {
    name: "a removal",
    messages: [user("A"), system(reference("tool_removal"))],
    betas: [betas.byReference],
  },
  {
    name: "a removal, by the wider beta",
    messages: [user("A"), system(reference("tool_removal"))],
    betas: [betas.byValue],
  },
  {
    name: "a definition",
    messages: [user("A"), system(definition(another))],
    betas: [betas.byValue],
  },
  {
    name: "a definition, and its removal",
    messages: [
      user("A"),
      system(definition(another)),
      assistant(text("B")),
      user("C"),
      system(reference("tool_removal", "more")),
    ],
    betas: [betas.byValue],
  },
  {
    name: "a new definition of a declared tool",
    messages: [user("A"), system(definition({ ...weather, description: "Weather" }))],
    betas: [betas.byValue],
  },
  {
    name: "a call of a tool that is not declared",
    messages: [user("A"), assistant({ ...call("c1"), name: "gone" }), user(result("c1"))],
  },
  {
    name: "a removal without a beta",
    messages: [user("A"), system(reference("tool_removal"))],
    refused: `messages.1.content.0: ${unexpectedTag("tool_removal", plainTags)}`,
  },
  {
    name: "a definition with the beta for references",
    messages: [user("A"), system(definition(another))],
    betas: [betas.byReference],
    refused: `messages.1.content.0.tool_addition.tool: ${unexpectedTag("tool_definition", ["mcp_tool_reference", "mcp_toolset_reference", "tool_reference"])}`,
  },
  {
    name: "a reference to an unknown tool",
    messages: [user("A"), system(reference("tool_addition", "more"))],
    betas: [betas.byValue],
    refused: "messages.1.content.0: tool_addition/tool_removal references unknown tool 'more'",
    code: "tool_reference_unresolved",
  },
  {
    name: "a definition with the name of a tool of another type",
    messages: [user("A"), system(definition({ type: "bash_20250124", name: "weather" }))],
    betas: [betas.byValue],
    refused:
      "messages.1.content.0.tool_addition.tool.definition: the name 'weather' is already used by a tool of type 'custom'",
    code: "tool_name_conflict",
  },
  {
    name: "a definition of more than four megabytes",
    messages: [user("A"), system(definition({ ...another, description: "x".repeat(4_194_304) }))],
    betas: [betas.byValue],
    refused: "messages.1: the tools available after this message exceed a limit",
    code: "available_tools_limit_exceeded",
  },
  {
    name: "an unknown field of a definition",
    messages: [user("A"), system(definition({ ...another, colour: "red" }))],
    betas: [betas.byValue],
    refused:
      "messages.1.content.0.tool_addition.tool.tool_definition.definition.custom.colour: Extra inputs are not permitted",
  },
];

testRules(changes);

test("a deferred tool binds thinking from the message on that refers to it", () => {
  const client = new MessagesClient(strictAnthropic({ now: () => 0 }));
  const later = { ...weather, name: "later", defer_loading: true };
  client.betas = [betas.byReference];
  client.fields = { ...client.fields, tools: [weather, later] };
  client.ask("One?");
  client.append(user("Two?"), system(reference("tool_addition", "later")));
  client.continue();
  client.append(user("Three?"));

  expect(client.send().refused).toBeUndefined();
  client.fields = { ...client.fields, tools: [weather, { ...later, description: "Other" }] };
  expect(client.send().refused).toMatch(
    /^messages\.4\.content\.0: .* first at `messages\.3\.content\.0`\.$/,
  );
});

test("a script reads the instructions, the last text and the tools that are offered", () => {
  const vendor = strictAnthropic({ now: () => 0 });
  const body = {
    model: "claude-opus-5-5",
    max_tokens: 10,
    stream: true,
    system: "You help.",
    tools: [weather, { ...weather, name: "later", defer_loading: true }],
    messages: [
      user("Hello"),
      system(
        "Answer by this JSON Schema: {}",
        reference("tool_addition", "later"),
        reference("tool_removal"),
      ),
    ],
  };
  const accepted: unknown[] = [];
  const headers = { "anthropic-beta": betas.byReference };

  vendor.answer(
    { method: "POST", path: "/v1/messages", headers, body: JSON.stringify(body) },
    (request) => {
      accepted.push(request);
      return { text: "Yes." };
    },
  );

  expect(accepted).toMatchObject([
    {
      number: 1,
      model: "claude-opus-5-5",
      instructions: "You help.\nAnswer by this JSON Schema: {}",
      lastUserText: "Hello",
      answersCalls: false,
      tools: ["later"],
      wantsJson: true,
      wantsSummary: false,
    },
  ]);
});

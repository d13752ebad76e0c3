import type { Item, Part } from "@millrace/core";
import { describe, expect, test } from "vitest";
import {
  answers,
  bodyOf,
  call,
  custom,
  item,
  messagesOf,
  native,
  result,
  textBlock,
  says,
  signed,
  text,
  thought,
  user,
} from "../../testing/anthropic-items.ts";
import { anthropicMessagesProtocol } from "./protocol.ts";

describe("thinking", () => {
  const redacted = thought("", { type: "redacted_thinking", data: "ZGF0YQ==" });
  const block = { type: "thinking", thinking: "Hm.", signature: "c2ln" };
  const loop = (...parts: readonly Part[]): readonly Item[] => [
    user("Look."),
    says(...parts, call("a")),
    answers(result("a", "one")),
  ];
  const enabled = { thinking: { type: "enabled", budget_tokens: 10_000 } };

  test("goes back as it came, signed or redacted or without text", () => {
    const transcript = [user("Hi"), says(signed("Hm."), redacted, signed(""), "Hi."), user("And?")];

    expect(messagesOf(transcript)).toMatchObject([
      {},
      {
        content: [
          block,
          { type: "redacted_thinking", data: "ZGF0YQ==" },
          { type: "thinking", thinking: "", signature: "c2ln" },
          textBlock("Hi."),
        ],
      },
      {},
    ]);
  });

  test("stays at home if it is not signed or another model's", () => {
    const foreign = item("model", [signed("Hm."), text("Hi.")], {
      model: "anthropic-messages/other",
    });

    expect(messagesOf([user("Hi"), says(thought("Hm."), "Hi."), user("And?")])).toMatchObject([
      {},
      { content: [textBlock("Hi.")] },
      {},
    ]);
    expect(messagesOf([user("Hi"), foreign, user("And?")])).toMatchObject([
      {},
      { content: [textBlock("Hi.")] },
      {},
    ]);
  });

  test("never ends a message, so a turn that was stopped while thinking is gone", () => {
    const stopped = item("model", [signed("Hm.")], {
      model: native,
      stop: "aborted",
      cause: { code: "aborted", message: "" },
    });

    expect(messagesOf([user("Hi"), stopped, user("Again")])).toEqual([
      { role: "user", content: [textBlock("Hi"), textBlock("Again")] },
    ]);
  });

  test("behind a call is left out", () => {
    const transcript = [
      user("Hi"),
      says(signed("Hm."), call("a"), signed("So."), "Hi."),
      user("A"),
    ];

    const messages = messagesOf(transcript, { settings: enabled });

    expect(messages).toMatchObject([
      {},
      { content: [block, { type: "tool_use" }, textBlock("Hi.")] },
      {},
    ]);
  });

  test("is still asked for when the vendor goes on from its summary", () => {
    const summary = item("model", [custom({ type: "compaction", content: "Sum." })], {
      model: native,
      stop: "paused",
    });

    const body = bodyOf([user("Hi"), summary], { settings: enabled });

    expect(body["thinking"]).toEqual(enabled.thinking);
    expect(body["messages"]).toMatchObject([{}, { role: "assistant" }]);
  });

  test("is not asked for when a summary stands before a turn that was paused without it", () => {
    const use = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
    const paused = item("model", [custom(use)], { model: native, stop: "paused" });
    const transcript = [user("Hi"), says(custom({ type: "compaction", content: "Sum." })), paused];

    expect(bodyOf(transcript, { settings: enabled })).not.toHaveProperty("thinking");
  });

  test("of two runs stays apart when what stood between them can't be sent", () => {
    const transcript = [
      user("Hi"),
      says(signed("Hm."), custom(null), signed("So."), "Hi."),
      user("A"),
    ];

    expect(messagesOf(transcript)).toMatchObject([
      {},
      { content: [{ thinking: "Hm." }, textBlock("…"), { thinking: "So." }, textBlock("Hi.")] },
      {},
    ]);
  });

  test("stays enabled in a run of tools that began with it", () => {
    const transcript = [...loop(signed("Hm.")), says(call("b")), answers(result("b", "two"))];

    const body = bodyOf(transcript, { settings: enabled });

    expect(body["thinking"]).toEqual(enabled.thinking);
    expect(body["max_tokens"]).toBe(64_000);
    expect(body["messages"]).toMatchObject([{}, { content: [block, {}] }, {}, {}, {}]);
  });

  test.each([
    ["began without it", loop()],
    ["has unsigned thinking", loop(thought("Hm."))],
    ["is another model's", loop(signed("Hm.")).map((each) => ({ ...each, model: "other/x" }))],
    [
      "went on without it after the user spoke",
      [...loop(signed("Hm.")), user("Go on."), ...loop().slice(1)],
    ],
  ])("is not asked for in a run of tools that %s", (_, transcript) => {
    const body = bodyOf(transcript, { settings: enabled });

    expect(body).not.toHaveProperty("thinking");
    expect(JSON.stringify(body["messages"])).not.toContain('"thinking"');
  });

  test("is asked for again when the user speaks", () => {
    const body = bodyOf([...loop(), says("One."), user("And?")], { settings: enabled });

    expect(body["thinking"]).toEqual(enabled.thinking);
  });

  test.each([
    ["claude-opus-5", undefined, "goes back"],
    ["claude-sonnet-5-5", { type: "between_tools" }, "goes back"],
    ["claude-opus-4-8", { type: "adaptive" }, "goes back"],
    ["claude-opus-4-8", undefined, "stays at home"],
    ["anthropic.claude-sonnet-4-5-20250929-v1:0", undefined, "stays at home"],
    ["claude-3-7-sonnet-latest", undefined, "stays at home"],
    ["claude-opus-5", { type: "disabled" }, "stays at home"],
  ])("in a run of tools of %s with the setting %j %s", (name, thinking, fate) => {
    const transcript = loop(signed("Hm.")).map((each): Item =>
      each.author === "model" ? { ...each, model: `anthropic-messages/${name}` } : each,
    );
    const settings = thinking === undefined ? {} : { thinking };

    const { body } = anthropicMessagesProtocol.request({ transcript, settings }, { model: name });

    expect(body["messages"]).toMatchObject([
      {},
      { content: fate === "goes back" ? [block, {}] : [{ type: "tool_use" }] },
      {},
    ]);
  });

  test("is left out everywhere while it is disabled, so that requests begin alike", () => {
    const transcript = [user("Hi"), says(signed("Hm."), "Hi."), ...loop(signed("Hm."))];

    expect(messagesOf(transcript, { settings: { thinking: { type: "disabled" } } })).toMatchObject([
      {},
      { content: [textBlock("Hi.")] },
      {},
      { content: [{ type: "tool_use" }] },
      {},
    ]);
  });
});

import type { Item, JsonObject, Transcript } from "@millrace/core";
import { describe, expect, test } from "vitest";
import {
  answersTo,
  call,
  foreign,
  item,
  messagesOf,
  model,
  native,
  reasoning,
  replyOf,
  says,
  sent,
  text,
} from "../../testing/openai-chat-items.ts";

describe("reasoning", () => {
  const loop = (reply: Item): Transcript => [says("Hi"), reply, answersTo(reply)];
  const assistantOf = (transcript: Transcript, name = model): JsonObject =>
    (messagesOf(transcript, name) as JsonObject[])[1] ?? {};

  test("reasoning_content goes back where tools were called, and nowhere else", () => {
    const field = { field: "reasoning_content" };
    const thought = item("model", [reasoning("Hm.", field), call("c1")], native);
    const final = item("model", [reasoning("So.", field), text("Blue.")], native);
    const plain = item("model", [reasoning("Ah.", field), text("Bye.")], native);

    const messages = messagesOf([...loop(thought), final, says("Bye"), plain, says("?")]);

    const spoken = (messages as JsonObject[]).filter(({ role }) => role === "assistant");
    expect(spoken.map((message) => message["reasoning_content"])).toEqual([
      "Hm.",
      "So.",
      undefined,
    ]);
  });

  test("a call without reasoning carries a blank where the server demands the field", () => {
    const bare = replyOf("reasoning-empty-with-call");
    const other = item("model", [call("c2")], foreign);

    const messages = messagesOf([...loop(bare), other, answersTo(other)]) as JsonObject[];

    expect(messages[1]?.["reasoning_content"]).toBe(" ");
    expect(messages[3]?.["reasoning_content"]).toBe(" ");
    expect(assistantOf(loop(other))).not.toHaveProperty("reasoning_content");
  });

  test("details go back in their order, encrypted ones as they came", () => {
    const late = replyOf("reasoning-details-encrypted-late");

    expect(assistantOf([says("Hi"), late, says("?")])["reasoning_details"]).toEqual([
      {
        type: "reasoning.summary",
        summary: "**Multiplying**",
        format: "openai-responses-v1",
        index: 0,
      },
      {
        type: "reasoning.encrypted",
        data: "gAAAAABpVb0xQ2kz",
        id: "rs_0d4f1a2b3c",
        format: "openai-responses-v1",
        index: 0,
      },
    ]);
  });

  test("a detail that signs a call follows the call's id", () => {
    const details = [{ type: "reasoning.encrypted", data: "abc", id: "tool_0_look", index: 0 }];
    const first = item("model", [call("tool_0_look")], native);
    const second = item(
      "model",
      [
        call("tool_0_look_2", { opaque: { id: "tool_0_look" } }),
        reasoning("", { reasoning_details: details }),
      ],
      native,
    );

    const messages = messagesOf([...loop(first), second, answersTo(second)]) as JsonObject[];

    expect(messages[3]).toEqual({
      role: "assistant",
      content: null,
      reasoning_details: [{ ...details[0], id: "tool_0_look_2" }],
      tool_calls: [sent("tool_0_look_2")],
    });
  });

  test("thinking that came among the content goes back there", () => {
    const reply = replyOf("content-parts");

    expect(assistantOf([says("Hi"), reply, says("?")])).toEqual({
      role: "assistant",
      content: [
        { type: "thinking", thinking: [{ type: "text", text: "Six times seven." }] },
        { type: "text", text: "It is 42." },
      ],
    });
  });

  test("another model's reasoning and signatures stay out", () => {
    const parts = [
      reasoning("Hm.", { field: "reasoning_content" }),
      call("c1", { opaque: { extra_content: { google: { thought_signature: "abc" } } } }),
    ];

    expect(assistantOf(loop(item("model", parts, foreign)))).toEqual({
      role: "assistant",
      content: null,
      tool_calls: [sent("c1")],
    });
  });

  test("a signature on a call goes back with it, and for Gemini unsigned calls are marked", () => {
    const name = "gemini-3-pro-preview";
    const reply = replyOf("thought-signature", `openai-chat/${name}`);
    const other = item("model", [call("c1"), call("c2")], foreign);
    const signature = (value: string): JsonObject => ({
      extra_content: { google: { thought_signature: value } },
    });

    expect(assistantOf(loop(reply), name)["tool_calls"]).toMatchObject([
      signature("CvcQAdHtim9c0Yh3zQ=="),
    ]);
    expect(assistantOf(loop(other), name)["tool_calls"]).toEqual([
      sent("c1", signature("skip_thought_signature_validator")),
      sent("c2"),
    ]);
  });

  test("sound goes back as its transcript, and other media in a message of the user", () => {
    const spoken = replyOf("audio");
    const drawn = replyOf("images");

    expect(assistantOf([says("Hi"), spoken, says("?")])["content"]).toBe("Hello");
    expect(assistantOf([says("Hi"), drawn, says("?")])["content"]).toBe(
      "Here:\n\n[media, image/png: in the next user message]\n\n[media, image/*: in the next user message]",
    );
  });
});

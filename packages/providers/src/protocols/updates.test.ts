/** Where updates stand in a request, when there is no input behind which they could. */
import type { Item, Json } from "@millrace/core";
import { describe, expect, test } from "vitest";
import { custom, item, says, text, user } from "../testing/anthropic-items.ts";
import { anthropicMessagesProtocol } from "./anthropic-messages/protocol.ts";
import { openaiResponsesProtocol } from "./openai-responses/protocol.ts";

const claude = "claude-opus-5-5";
const search = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };

/** A reply that its vendor paused. */
function paused(model: string, ...parts: Parameters<typeof item>[1]): Item {
  return item("model", parts, { model, stop: "paused" });
}

describe("a change behind a turn that the vendor paused", () => {
  const messagesOf = (transcript: readonly Item[], after: Item): readonly Json[] => {
    const updates = [{ after: after.id, text: "Be brief.", notes: "It is Monday." }];
    const { body } = anthropicMessagesProtocol.request({ transcript, updates }, { model: claude });
    return body["messages"] as readonly Json[];
  };
  const rolesOf = (messages: readonly Json[]): readonly unknown[] =>
    messages.map((message) => (message as { readonly role: string }).role);

  test.each([
    ["in a text", text("Half.")],
    ["in work of its own", custom(search)],
  ])("stands behind a turn of the user, now and later: paused %s", (_, part) => {
    const half = paused(`anthropic-messages/${claude}`, text("So."), part);
    const asked = [user("Go."), half];

    const now = messagesOf(asked, half);
    const later = messagesOf([...asked, says("Rest."), user("Thanks.")], half);

    expect(rolesOf(now)).toEqual(["user", "assistant", "user", "system", "system"]);
    expect(later.slice(0, now.length)).toEqual(now);
  });

  test("has a turn of the user behind it for OpenAI too", () => {
    const half = paused("openai-responses/gpt-6-sol", text("Half."));
    const transcript = [user("Go."), half];
    const updates = [{ after: half.id, text: "Be brief." }];

    const { body } = openaiResponsesProtocol.request(
      { transcript, updates },
      { model: "gpt-6-sol" },
    );

    const input = body["input"] as readonly { readonly role: string }[];
    expect(
      input
        .map(({ role }) => role)
        .slice(-2)
        .toSorted(),
    ).toEqual(["developer", "user"]);
  });
});

import { callId, itemId, partId } from "@millrace/core/writing";
import type { Item, JsonObject } from "@millrace/core";
import { describe, expect, test } from "vitest";
import { validatePairs } from "./openai-responses-pairs.ts";

const author = "openai-responses/gpt-5";
const item: Item = {
  id: itemId("i1"),
  author: "model",
  model: author,
  stop: "tools",
  parts: [
    { kind: "reasoning", id: partId("p1"), text: "", opaque: { id: "rs_1" } },
    { kind: "text", id: partId("p2"), text: "a", metadata: { item: "msg_1", after: "rs_1" } },
    {
      kind: "tool_call",
      id: partId("p3"),
      callId: callId("c"),
      tool: "look",
      raw: "{}",
      input: {},
      opaque: { id: "fc_1" },
    },
  ],
};

function sends(...ids: readonly string[]): JsonObject {
  return { input: ids.map((id) => ({ id })) };
}

describe("validatePairs", () => {
  test("takes items with the reasoning before them, and items without ids", () => {
    expect(validatePairs(sends("rs_1", "msg_1", "fc_1"), [item], author)).toEqual([]);
    expect(validatePairs({ input: [{ call_id: "c" }] }, [item], author)).toEqual([]);
  });

  test("refuses items whose reasoning was left out", () => {
    expect(validatePairs(sends("msg_1"), [item], author)).toEqual(["$.input: msg_1 without rs_1"]);
    expect(validatePairs(sends("fc_1"), [item], author)).toEqual(["$.input: fc_1 without rs_1"]);
  });
});

import { callId, itemId, partId } from "@millrace/core/writing";
import type { Item, Json } from "@millrace/core";
import { expect, it } from "vitest";
import { messagesOf } from "./content.ts";

function resultWith(output?: Json): Item {
  const result = { kind: "tool_result", id: partId("p"), callId: callId("c"), tool: "t" } as const;
  const returned = output === undefined ? {} : { output };
  const parts = [{ ...result, status: "ok", text: "as text", ...returned } as const];
  return { id: itemId("i"), author: "tool", parts, stop: "end" };
}

it.each([
  ["nothing but text", undefined, "as text"],
  ["null", null, null],
  ["an object", { a: 1 }, { a: 1 }],
])("the response of a tool that returned %s is that value", (_, output, response) => {
  expect(JSON.parse(messagesOf([resultWith(output)]))).toMatchObject([{ parts: [{ response }] }]);
});

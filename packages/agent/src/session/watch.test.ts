import { call, say, scriptedModel } from "@millrace/core/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineAgent } from "../define/define-agent.ts";
import { defineTool } from "../definition/tool.ts";

const input = z.object({});
const text = defineTool({ name: "text", input, run: () => "a text" });
const value = defineTool({ name: "value", input, run: () => ({ celsius: 4 }) });
const broken = defineTool({
  name: "broken",
  input,
  run: (): string => {
    throw new Error("the wire is cut");
  },
});

test("the end of an execution has the output of its tool, also a text", async () => {
  const calls = [call("text", {}), call("value", {}), call("broken", {})];
  const model = scriptedModel([calls, [say("Done.")]]);

  const outputs: Record<string, unknown> = {};
  for await (const event of defineAgent({ model, tools: [text, value, broken] }).run("Go.")) {
    if (event.type === "tool_execution_finished") outputs[event.tool] = event.output;
  }

  expect(outputs).toEqual({ text: "a text", value: { celsius: 4 }, broken: undefined });
});

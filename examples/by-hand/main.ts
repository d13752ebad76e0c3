import { itemId, partId } from "@millrace/core/writing";
import type { Item, ToolCallPart } from "@millrace/core";
import type { ToolDescription } from "@millrace/core/ports";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { anthropic } from "@millrace/providers/anthropic";

// Without a key it plays a script; with ANTHROPIC_API_KEY it asks a real model.
const script = scriptedModel([[call("weather", { city: "Oslo" })], [say("Take a warm coat.\n")]]);
const model = process.env["ANTHROPIC_API_KEY"]
  ? anthropic(process.env["MODEL"] ?? "claude-sonnet-5", { baseUrl: process.env["BASE_URL"] })
  : script;

const weather: ToolDescription = {
  name: "weather",
  description: "Current weather in a city",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

function runTool({ callId, tool, input, fault }: ToolCallPart): Item {
  console.log(`[${tool} ${JSON.stringify(input)}]`);
  const text = fault ? `These arguments can't be used: ${fault.code}.` : "4 °C, light snow";
  const status = fault ? ("failed" as const) : ("ok" as const);
  const result = { kind: "tool_result", id: partId("r"), callId, tool, status, text } as const;
  return { id: itemId(`result-${callId}`), author: "tool", parts: [result], stop: "end" };
}

const question = { kind: "text", id: partId("q"), text: "What do I wear in Oslo today?" } as const;
const transcript: Item[] = [{ id: itemId("i1"), author: "user", parts: [question], stop: "end" }];

for (let turn = 2; turn <= 6; turn += 1) {
  const stream = model.stream({ transcript, tools: [weather] });
  const texts = new Set<string>();
  for await (const delta of stream) {
    if (delta.op === "begin_part" && delta.kind === "text") texts.add(delta.partId);
    if (delta.op === "append_text" && texts.has(delta.partId)) process.stdout.write(delta.chunk);
  }
  const reply = await stream.result; // never rejects: a failure is an ending
  if (reply.cause) console.error(`${reply.stop}: ${reply.cause.message}`);
  transcript.push({ ...reply, id: itemId(`i${turn}`), author: "model" });
  if (reply.stop !== "tools") break; // only a whole request runs a tool
  transcript.push(...reply.parts.filter((part) => part.kind === "tool_call").map(runTool));
}

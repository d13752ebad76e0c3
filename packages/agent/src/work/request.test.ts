import type { Model } from "@millrace/core";
import { memorySessionStore } from "@millrace/core/memory";
import type { ModelRequest } from "@millrace/core/ports";
import { call, say, scriptedModel } from "@millrace/core/testing";
import type { ScriptedReply } from "@millrace/core/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineAgent } from "../define/define-agent.ts";
import { defineTool } from "../definition/tool.ts";

const look = defineTool({ name: "look", input: z.object({}), run: () => "line\n".repeat(40_000) });

/** A model by a script, and the requests that it gets. */
function recorded(replies: readonly ScriptedReply[]): {
  readonly model: Model;
  readonly requests: readonly ModelRequest[];
} {
  const requests: ModelRequest[] = [];
  const scripted = scriptedModel(replies);
  const stream: Model["stream"] = (request) => {
    requests.push(request);
    return scripted.stream(request);
  };
  return { model: { ...scripted, stream }, requests };
}

function namesOf({ tools = [] }: ModelRequest): readonly string[] {
  return tools.map(({ name }) => name);
}

test("the tools of an agent are the same before and after a result that is too long", async () => {
  const { model, requests } = recorded([[call("look", {})], [say("Done.")]]);

  const { outcome } = await defineAgent({ model, tools: [look] }).run("go").result;

  expect(outcome).toBe("completed");
  expect(requests.map(namesOf)).toEqual([
    ["look", "read_output"],
    ["look", "read_output"],
  ]);
});

test("an agent without tools offers none", async () => {
  const { model, requests } = recorded([[say("Hi.")]]);

  await defineAgent({ model }).run("go").result;

  expect(requests.map(namesOf)).toEqual([[]]);
});

test("a conversation has one key, in all of its runs and processes, and is no other's", async () => {
  const { model, requests } = recorded([[say("1")], [say("2")], [say("3")]]);
  const agent = defineAgent({ model });
  const store = memorySessionStore();
  for (const id of ["a", "a", "b"]) {
    await using session = await agent.open({ id, store });
    await session.send("go").result;
  }

  const [first, again, other] = requests.map(({ conversation }) => conversation);
  expect(first).toEqual({ key: expect.stringMatching(/^[\da-f]{32}$/) as string, isSingle: false });
  expect(again).toEqual(first);
  expect(other?.key).not.toBe(first?.key);
});

test("one run without tools is a single request, and one with tools is not", async () => {
  const { model, requests } = recorded([[say("1")], [say("2")]]);

  await defineAgent({ model }).run("go").result;
  await defineAgent({ model, tools: [look] }).run("go").result;

  expect(requests.map(({ conversation }) => conversation?.isSingle)).toEqual([true, false]);
});

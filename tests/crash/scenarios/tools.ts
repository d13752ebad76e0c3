import { defineAgent } from "@millrace/agent";
import { noUsage } from "@millrace/core/writing";
import type { AgentSettings } from "@millrace/agent";
import { call, callRaw, say } from "@millrace/core/testing";
import type { Replies } from "../kit/model.ts";
import type { ToolPlan } from "../kit/tools.ts";
import type { Scenario } from "../scenario.ts";

/** One prompt, `go`, that is answered with tools. */
function tools(
  name: string,
  replies: Replies,
  plans: readonly ToolPlan[],
  settings: Partial<AgentSettings<[]>> = {},
): Scenario {
  return {
    name,
    agent: ({ model, tool }) =>
      defineAgent({ ...settings, model: model(replies), tools: plans.map(tool) }),
    script: [{ do: "send", text: "go" }],
  };
}

const id = (callId: string) => ({ callId });
const does = (tool: string, callId: string) => call(tool, { what: callId }, { callId });
const done = [say("done")];
const same = (callId: string) => call("look", { what: "same" }, { callId });

const [pay, put, look]: readonly [ToolPlan, ToolPlan, ToolPlan] = [
  { name: "pay" },
  { name: "put", effect: "idempotent" },
  { name: "look", effect: "pure" },
];

/** Calls of every sort. */
export const toolScenarios: readonly Scenario[] = [
  tools("one effectful tool", { go: [does("pay", "c1")], c1: done }, [pay]),
  tools("one idempotent tool", { go: [does("put", "c1")], c1: done }, [put]),
  tools("one pure tool", { go: [does("look", "c1")], c1: done }, [look]),
  tools(
    "three tools at once",
    { go: [say("all"), does("pay", "c1"), does("put", "c2"), does("look", "c3")], c3: done },
    [{ ...pay, ms: 4 }, { ...put, ends: "streams" }, look],
  ),
  tools(
    "three effectful tools at once",
    { go: [does("pay", "c1"), does("pay", "c2"), does("pay", "c3")], c3: done },
    [{ ...pay, ms: 3 }],
  ),
  tools(
    "tools one after the other",
    { go: [does("pay", "c1")], c1: [does("put", "c2")], c2: [does("pay", "c3")], c3: done },
    [pay, put],
  ),
  tools(
    "two tools that may not run at once",
    { go: [does("pay", "c1"), does("put", "c2")], c2: done },
    [pay, put],
    { parallel: 1 },
  ),
  tools(
    "a tool that runs alone",
    { go: [does("look", "c1"), does("pay", "c2"), does("look", "c3")], c3: done },
    [{ ...pay, sequence: "alone" }, look],
  ),
  tools("a tool that throws", { go: [does("pay", "c1"), does("put", "c2")], c2: done }, [
    { ...pay, ends: "throws" },
    { ...put, ends: "throws" },
  ]),
  tools("a tool that takes too long", { go: [does("pay", "c1"), does("look", "c2")], c2: done }, [
    { ...pay, ends: "hangs", limits: { seconds: 0.03 } },
    { ...look, ends: "hangs", limits: { seconds: 0.03 } },
  ]),
  tools(
    "calls that can't run",
    {
      go: [
        does("nothing", "c1"),
        call("pay", { why: 1 }, id("c2")),
        callRaw("pay", '{"what": "half', id("c3")),
        does("pay", "c4"),
      ],
      c4: done,
    },
    [pay],
  ),
  tools(
    "a reply that ends too early for its calls",
    {
      go: [does("pay", "c1"), does("look", "c2"), { end: { stop: "length", evidence: "max" } }],
    },
    [pay, look],
  ),
  tools(
    "a model that tells what came of it",
    {
      go: [does("pay", "c1")],
      c1: (_, { transcript }) => {
        const result = transcript.at(-1)?.parts.at(-1);
        return [say(`it is ${result?.kind === "tool_result" ? result.status : "lost"}`)];
      },
    },
    [pay],
  ),
  tools(
    "a call id that comes again",
    {
      go: [does("pay", "c1")],
      c1: (_, { transcript }) => (transcript.length < 4 ? [does("pay", "c1")] : done),
    },
    [pay],
  ),
  tools(
    "a model that goes round in circles",
    { go: [same("c1")], c1: [same("c2")], c2: [same("c3")], c3: done },
    [look],
    { limits: { repeats: 3 } },
  ),
  tools(
    "a run at its limit of turns",
    { go: [does("pay", "c1")], c1: [does("pay", "c2")], c2: done },
    [pay],
    { limits: { turns: 2 } },
  ),
  tools(
    "a run at its limit of tokens",
    {
      go: [does("put", "c1"), { usage: { ...noUsage, inputTokens: 9_000, outputTokens: 2_000 } }],
      c1: done,
    },
    [put],
    { limits: { tokens: 10_000 } }, // above what two lost requests count
  ),
];

import { defineAgent } from "@millrace/agent";
import { noUsage } from "@millrace/core/writing";
import { call, fail, say } from "@millrace/core/testing";
import { whatSchema } from "../kit/tools.ts";
import type { Scenario } from "../scenario.ts";

const does = (tool: string, callId: string) => call(tool, { what: callId }, { callId });
const asks = (tool: string, prompt: string, callId: string) => call(tool, { prompt }, { callId });
const done = [say("done")];
const much = { usage: { ...noUsage, inputTokens: 800, outputTokens: 100 } };
const context = { window: 1_000, compactAbove: 0.5, keep: 1 };

/** Agents within agents, summaries, and answers of a shape. */
export const deeperScenarios: readonly Scenario[] = [
  {
    name: "an agent as a tool",
    agent: ({ model, tool }) => {
      const inner = defineAgent({
        model: model({ find: [does("pay", "i1")], i1: [say("found")] }),
        tools: [tool({ name: "pay" })],
      });
      return defineAgent({
        model: model({ go: [asks("ask", "find", "c1")], c1: done }),
        tools: [inner.asTool({ name: "ask", description: "finds" })],
      });
    },
    script: [{ do: "send", text: "go" }],
  },
  {
    name: "two agents as tools beside a tool",
    agent: ({ model, tool }) => {
      const inner = defineAgent({
        model: model({
          left: [does("pay", "i1")],
          right: [does("put", "i2")],
          i1: [say("left")],
          i2: [say("right")],
        }),
        tools: [tool({ name: "pay" }), tool({ name: "put", effect: "idempotent" })],
      });
      return defineAgent({
        model: model({
          go: [asks("ask", "left", "c1"), asks("ask", "right", "c2"), does("buy", "c3")],
          c3: done,
        }),
        tools: [inner.asTool({ name: "ask", description: "goes" }), tool({ name: "buy" })],
      });
    },
    script: [{ do: "send", text: "go" }],
  },
  {
    name: "an agent in an agent in an agent, which fails",
    agent: ({ model, tool }) => {
      const last = defineAgent({
        model: model({ dig: [does("pay", "j1")], j1: [fail("broken", "it broke")] }),
        tools: [tool({ name: "pay" })],
      });
      const inner = defineAgent({
        model: model({ find: [asks("deep", "dig", "i1")], i1: [say("nothing")] }),
        tools: [last.asTool({ name: "deep", description: "digs" })],
      });
      return defineAgent({
        model: model({ go: [asks("ask", "find", "c1")], c1: done }),
        tools: [inner.asTool({ name: "ask", description: "finds" })],
      });
    },
    script: [{ do: "send", text: "go" }],
  },
  {
    name: "an agent as a tool that is stopped",
    agent: ({ model, tool }) => {
      const inner = defineAgent({
        model: model({ find: [does("look", "i1")] }),
        tools: [tool({ name: "look", effect: "pure", gate: "stopped" })],
      });
      return defineAgent({
        model: model({ go: [asks("ask", "find", "c1")] }),
        tools: [inner.asTool({ name: "ask", description: "finds" })],
      });
    },
    script: [
      { do: "send", text: "go" },
      { do: "abort", when: { waits: "stopped" } },
    ],
  },
  {
    name: "a context that is summarised",
    agent: ({ model, tool }) =>
      defineAgent({
        context,
        model: model({
          go: [does("look", "c1")],
          c1: [does("pay", "c2")],
          c2: [does("look", "c3"), much],
          c3: done,
          summary: [say("looked twice")],
        }),
        tools: [tool({ name: "look", effect: "pure" }), tool({ name: "pay" })],
      }),
    script: [{ do: "send", text: "go" }],
  },
  {
    name: "a context that a vendor refuses",
    agent: ({ model, tool }) =>
      defineAgent({
        context: { ...context, window: 10_000 },
        model: model({
          one: [say("the first")],
          two: [say("the second")],
          three: (_, { transcript }) =>
            transcript.length > 4 ? [fail("context_overflow", "too long")] : [does("pay", "c1")],
          c1: done,
          summary: [say("two were said")],
        }),
        tools: [tool({ name: "pay" })],
      }),
    script: [
      { do: "send", text: "one" },
      { do: "send", text: "two", when: { idle: 0 } },
      { do: "send", text: "three", when: { idle: 0 } },
    ],
  },
  {
    name: "an answer of a shape",
    agent: ({ model }) => defineAgent({ model: model({ go: [say('{"what":"this"}')] }) }),
    script: [{ do: "send", text: "go", output: whatSchema }],
  },
  {
    name: "an answer that is mended",
    agent: ({ model, tool }) =>
      defineAgent({
        model: model({
          go: [does("pay", "c1")],
          c1: [say("this")],
          correction: [say('{"what":"this"}')],
        }),
        tools: [tool({ name: "pay" })],
      }),
    script: [{ do: "send", text: "go", output: whatSchema }],
  },
  {
    name: "an answer that is never right",
    agent: ({ model }) =>
      defineAgent({ model: model({ go: [say("this")], correction: [say("that")] }) }),
    script: [{ do: "send", text: "go", output: whatSchema }],
  },
];

import { defineAgent } from "@millrace/agent";
import type { AgentSettings } from "@millrace/agent";
import { call, say } from "@millrace/core/testing";
import { wait } from "../kit/model.ts";
import type { Replies } from "../kit/model.ts";
import type { ToolPlan } from "../kit/tools.ts";
import type { Scenario, UserStep } from "../scenario.ts";

function asked(
  name: string,
  replies: Replies,
  plans: readonly ToolPlan[],
  script: readonly UserStep[],
  settings: Partial<AgentSettings<[]>> = {},
): Scenario {
  return {
    name,
    agent: ({ model, tool }) =>
      defineAgent({ ...settings, model: model(replies), tools: plans.map(tool) }),
    script: [{ do: "send", text: "go" }, ...script],
  };
}

const does = (tool: string, callId: string) => call(tool, { what: callId }, { callId });
const done = [say("done")];
const pay: ToolPlan = { name: "pay", approve: "ask" };
const put: ToolPlan = { name: "put", effect: "idempotent" };
const form: ToolPlan = { name: "form", client: true };
const one: Replies = { go: [does("pay", "c1")], c1: done };
const two: Replies = { go: [does("pay", "c1"), does("put", "c2"), does("pay", "c3")], c3: done };

/** Calls that wait for a person: for a yes, or for the answer itself. */
export const peopleScenarios: readonly Scenario[] = [
  asked("a question and a yes", one, [pay], [{ do: "allow", question: 1, when: { asked: 1 } }]),
  asked("a question and a no", one, [pay], [{ do: "deny", question: 1, when: { asked: 1 } }]),
  asked(
    "two questions, a yes and a no",
    two,
    [pay, put],
    [
      { do: "allow", question: 2, when: { asked: 2 } },
      { do: "deny", question: 1 },
    ],
  ),
  asked(
    "a question by a rule",
    one,
    [{ name: "pay" }],
    [{ do: "allow", question: 1, when: { asked: 1 } }],
    { policy: [{ tool: "p*", policy: "ask" }] },
  ),
  asked(
    "a question by a hook",
    one,
    [{ name: "pay" }],
    [{ do: "allow", question: 1, when: { asked: 1 } }],
    { hooks: { beforeTool: () => "ask" as const } },
  ),
  asked(
    "a rule that denies, and a hook that throws",
    {
      go: [does("pay", "c1"), does("put", "c2")],
      c2: done,
    },
    [{ name: "pay" }, put],
    [],
    {
      policy: [{ tool: "pay", policy: "deny" }],
      hooks: {
        beforeTool: () => {
          throw new Error("closed");
        },
      },
    },
  ),
  asked("a question that nobody answers", one, [pay], [], { approvalTimeoutMs: 50 }),
  asked("a stop instead of a yes", one, [pay], [{ do: "abort", when: { asked: 1 } }]),
  asked(
    "a question, a steer and a yes",
    { ...one, left: done },
    [pay],
    [
      { do: "steer", text: "left", when: { asked: 1 } },
      { do: "allow", question: 1 },
    ],
  ),
  asked(
    "a client answers",
    { go: [does("form", "c1")], c1: done },
    [form],
    [{ do: "answer", callId: "c1", output: { what: "filled in" }, when: { started: "c1" } }],
  ),
  asked(
    "a client answers beside other tools",
    {
      go: [does("pay", "c1"), does("form", "c2"), does("put", "c3"), does("form", "c4")],
      c4: done,
    },
    [{ name: "pay" }, put, form],
    [
      { do: "answer", callId: "c4", output: { what: "the second" }, when: { started: "c4" } },
      { do: "answer", callId: "c2", output: { what: "the first" }, when: { started: "c2" } },
    ],
  ),
  asked(
    "a stop instead of a client's answer",
    {
      go: [does("pay", "c1"), does("form", "c2")],
      c2: [wait("never", 0)],
    },
    [{ name: "pay" }, form],
    [{ do: "abort", when: { started: "c2" } }],
  ),
];

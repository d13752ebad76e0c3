import { defineAgent } from "@millrace/agent";
import { call, say } from "@millrace/core/testing";
import { wait } from "../kit/model.ts";
import type { Replies } from "../kit/model.ts";
import type { Scenario, Stage } from "../scenario.ts";

function talks(replies: Replies) {
  return ({ model, tool }: Stage) =>
    defineAgent({
      model: model(replies),
      tools: [tool({ name: "look", effect: "pure", gate: "said" }), tool({ name: "pay" })],
    });
}

/** Inputs that people send during a run. */
export const inputScenarios: readonly Scenario[] = [
  {
    name: "steered while it answers",
    agent: talks({ hello: [say("good day"), wait("said", 2)], shorter: [say("hi")] }),
    script: [
      { do: "send", text: "hello" },
      { do: "steer", text: "shorter", when: { waits: "said" }, opens: "said" },
    ],
  },
  {
    name: "steered while a tool runs",
    agent: talks({
      go: [
        call("look", { what: "a" }, { callId: "c1" }),
        call("pay", { what: "b" }, { callId: "c2" }),
      ],
      left: [say("left it is")],
    }),
    script: [
      { do: "send", text: "go" },
      { do: "steer", text: "left", when: { waits: "said" }, opens: "said" },
    ],
  },
  {
    name: "a follow-up",
    agent: talks({ hello: [say("good day"), wait("said", 1)], more: [say("more")] }),
    script: [
      { do: "send", text: "hello" },
      { do: "followUp", text: "more", when: { waits: "said" }, opens: "said" },
    ],
  },
  {
    name: "a follow-up and a steer",
    agent: talks({
      go: [call("look", { what: "a" }, { callId: "c1" })],
      left: [say("left it is")],
      more: [call("pay", { what: "b" }, { callId: "c2" })],
      c2: [say("paid")],
    }),
    script: [
      { do: "send", text: "go" },
      { do: "followUp", text: "more", when: { waits: "said" } },
      { do: "steer", text: "left", opens: "said" },
    ],
  },
  {
    name: "a follow-up that is taken back",
    agent: talks({ hello: [say("good day"), wait("said", 1)] }),
    script: [
      { do: "send", text: "hello" },
      { do: "followUp", text: "more", when: { waits: "said" } },
      { do: "takeBack", step: 1, opens: "said" },
    ],
  },
  {
    name: "a prompt that is taken back",
    agent: talks({ hello: [say("good day"), wait("said", 1)], third: [say("the third")] }),
    script: [
      { do: "send", text: "hello" },
      { do: "send", text: "second", when: { waits: "said" } },
      { do: "send", text: "third" },
      { do: "takeBack", step: 1, opens: "said" },
    ],
  },
  {
    name: "a follow-up outlives a stop",
    agent: talks({ hello: [say("good day"), wait("said", 1)] }),
    leaves: 1,
    script: [
      { do: "send", text: "hello" },
      { do: "followUp", text: "more", when: { waits: "said" } },
      { do: "abort" },
    ],
  },
  {
    name: "what outlived a stop goes with the next prompt",
    agent: talks({
      hello: [say("good day"), wait("said", 1)],
      again: [say("here again")],
      left: [say("left it is")],
      more: [say("more")],
    }),
    script: [
      { do: "send", text: "hello" },
      { do: "followUp", text: "more", when: { waits: "said" } },
      { do: "steer", text: "left" },
      { do: "abort" },
      { do: "send", text: "again", when: { idle: 2 } },
    ],
  },
];

import { defineAgent } from "@millrace/agent";
import { itemId, partId } from "@millrace/core/writing";
import type { Agent } from "@millrace/agent";
import { fail, say, think, truncate } from "@millrace/core/testing";
import { wait } from "../kit/model.ts";
import type { Replies } from "../kit/model.ts";
import type { Scenario, Stage } from "../scenario.ts";

/** An agent that only talks. A failed try is followed by another one at once. */
function talks(replies: Replies): (stage: Stage) => Agent {
  const retry = { attempts: 3, baseMs: 1, capMs: 2 };
  return ({ model }) => defineAgent({ model: model(replies), retry });
}

const busy = fail("overloaded", "try again", { retryable: true });

/** Answers without tools: whole, cut short, failed and tried again. */
export const plainScenarios: readonly Scenario[] = [
  {
    name: "one answer",
    agent: talks({ hello: [think("hm"), say("good day")] }),
    script: [{ do: "send", text: "hello" }],
  },
  {
    name: "several runs",
    agent: talks({ one: [say("1")], two: [say("2")], three: [say("3")] }),
    script: [
      { do: "send", text: "one" },
      { do: "send", text: "two", when: { idle: 0 } },
      { do: "send", text: "three", when: { idle: 0 } },
    ],
  },
  {
    name: "prompts that wait for each other",
    agent: talks({ one: [say("first"), wait("both", 1)], two: [say("second")] }),
    script: [
      { do: "send", text: "one" },
      { do: "send", text: "two", when: { waits: "both" }, opens: "both" },
    ],
  },
  {
    name: "a history to begin with",
    agent: talks({ more: [say("and more")] }),
    transcript: [
      {
        id: itemId("item_a"),
        author: "user",
        parts: [{ kind: "text", id: partId("p1"), text: "long ago" }],
        stop: "end",
      },
      {
        id: itemId("item_b"),
        author: "model",
        parts: [{ kind: "text", id: partId("p1"), text: "there was" }],
        stop: "end",
      },
    ],
    script: [{ do: "send", text: "more" }],
  },
  {
    name: "an answer that is too long",
    agent: talks({ hello: [say("good d"), { end: { stop: "length", evidence: "max" } }] }),
    script: [{ do: "send", text: "hello" }],
  },
  {
    name: "an answer that is filtered",
    agent: talks({ hello: [say("bad"), { end: { stop: "filtered", evidence: "filter" } }] }),
    script: [{ do: "send", text: "hello" }],
  },
  {
    name: "a reply that pauses",
    agent: talks({
      hello: [say("to be continued"), { end: { stop: "paused", evidence: "pause" } }],
      "to be continued": [say("the end")],
    }),
    script: [{ do: "send", text: "hello" }],
  },
  {
    name: "a try that fails at first",
    agent: talks({ hello: (asked) => (asked === 0 ? [busy] : [say("good day")]) }),
    script: [{ do: "send", text: "hello" }],
  },
  {
    name: "a try that fails midway",
    agent: talks({ hello: (asked) => (asked < 2 ? [say("good d"), busy] : [say("good day")]) }),
    script: [{ do: "send", text: "hello" }],
  },
  {
    name: "tries that all fail",
    agent: talks({ hello: [say("good d"), busy], again: [say("now it works")] }),
    script: [
      { do: "send", text: "hello" },
      { do: "send", text: "again", when: { idle: 0 } },
    ],
  },
  {
    name: "a reply that is cut",
    agent: talks({ hello: [say("good d"), truncate()] }),
    script: [{ do: "send", text: "hello" }],
  },
];

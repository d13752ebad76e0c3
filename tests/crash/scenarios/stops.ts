import { defineAgent } from "@millrace/agent";
import { call, say } from "@millrace/core/testing";
import { wait } from "../kit/model.ts";
import type { Replies } from "../kit/model.ts";
import type { ToolPlan } from "../kit/tools.ts";
import type { Scenario, UserStep } from "../scenario.ts";

const stopped: readonly UserStep[] = [
  { do: "send", text: "go" },
  { do: "abort", when: { waits: "stopped" } },
];
const thenAgain: readonly UserStep[] = [
  ...stopped,
  { do: "send", text: "again", when: { idle: 0 } },
];

function stop(
  name: string,
  replies: Replies,
  tools: readonly ToolPlan[],
  script: readonly UserStep[] = stopped,
): Scenario {
  return {
    name,
    agent: ({ model, tool }) => defineAgent({ model: model(replies), tools: tools.map(tool) }),
    script,
  };
}

const [a, b] = [{ callId: "c1" }, { callId: "c2" }];
/** A tool whose outcome a crash made unknown is not stopped any more, so what follows it waits too. */
const later = [wait("stopped", 0), say("never")];

/** Runs that are stopped. */
export const stopScenarios: readonly Scenario[] = [
  stop("stopped while it answers", { go: [say("a long good day"), wait("stopped", 2)] }, []),
  stop(
    "stopped, and asked again",
    { go: [say("a long good day"), wait("stopped", 3)], again: [say("here I am")] },
    [],
    thenAgain,
  ),
  stop("stopped while a pure tool runs", { go: [call("look", { what: "a" }, a)] }, [
    { name: "look", effect: "pure", gate: "stopped" },
  ]),
  stop("stopped while an idempotent tool runs", { go: [call("put", { what: "a" }, a)] }, [
    { name: "put", effect: "idempotent", gate: "stopped" },
  ]),
  stop(
    "stopped while an effectful tool runs",
    { go: [call("pay", { what: "a" }, a)], c1: later, again: [say("here I am")] },
    [{ name: "pay", gate: "stopped" }],
    thenAgain,
  ),
  stop(
    "stopped while one of two tools runs",
    { go: [call("put", { what: "a" }, a), call("pay", { what: "b" }, b)], c2: later },
    [
      { name: "put", effect: "idempotent" },
      { name: "pay", gate: "stopped" },
    ],
  ),
  stop(
    "stopped before a tool had its turn",
    { go: [call("look", { what: "a" }, a), call("pay", { what: "b" }, b)] },
    [{ name: "look", effect: "pure", gate: "stopped", sequence: "alone" }, { name: "pay" }],
  ),
];

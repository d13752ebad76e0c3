/** One short session for each thing that a workflow does, whose histories are recorded and replayed. */
import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import { call, fail, say, scriptedModel, stall } from "@millrace/core/testing";
import type { ScriptedReply } from "@millrace/core/testing";
import { z } from "zod";
import type { Talk } from "./cluster.ts";

export interface Feature {
  readonly agent: () => Agent;
  /** What people do after the prompt. Left out: nothing. */
  readonly play?: ((talk: Talk) => Promise<void>) | undefined;
}

/** Temporal suggests to continue as new after so many events. Only one of the features has more. */
export const longEvents = 60;

const input = z.object({ round: z.number() });
const [look, read] = ["look", "read"].map((name) =>
  defineTool({ name, input, effect: "pure", run: () => "seen" }),
);
const draw = defineTool({ name: "draw", input, effect: "pure", queue: "gpu", run: () => "drawn" });
const pay = defineTool({
  name: "pay",
  input,
  effect: "effectful",
  approve: "ask",
  run: () => "paid",
});
const tools = [look, read, draw, pay].flatMap((tool) => tool ?? []);

const used = { usage: { inputTokens: 900, outputTokens: 10, cachedTokens: 0 } };
const overloaded = fail("overloaded", "try later", {
  retryable: true,
  evidence: { retryAfterMs: 3_000 }, // above what a step waits for by itself, so a timer is set
});

export const features: Readonly<Record<string, Feature>> = {
  reply: { agent: () => modelled([[say("hello")]]) },
  tools: {
    agent: () => modelled([[call("look", { round: 1 }), call("read", { round: 1 })], [say("end")]]),
  },
  approval: {
    agent: () => modelled([[call("pay", { round: 1 })], [say("end")]]),
    play: async ({ fact, inbox, wake }) => {
      const { approvalId } = await fact("approval_requested");
      await inbox.allow(approvalId);
      await wake();
    },
  },
  stop: {
    agent: () => modelled([[say("so far"), stall()]]),
    play: async ({ fact, inbox, wake }) => {
      await fact("turn_started");
      await inbox.abort();
      await wake();
    },
  },
  retry: { agent: () => modelled([[say("hal"), overloaded], [say("hello")]]) },
  compaction: {
    agent: () =>
      modelled([[used, call("look", { round: 1 })], [say("a summary")], [say("end")]]).with({
        context: { window: 1_000, compactAbove: 0.5, keep: 1 },
      }),
  },
  steer: {
    agent: () => modelled([[say("first"), stall(1_000)], [say("second")]]),
    play: async ({ fact, inbox, wake }) => {
      await fact("turn_started");
      await inbox.steer("another way");
      await wake();
    },
  },
  queues: {
    agent: () => modelled([[call("look", { round: 1 }), call("draw", { round: 1 })], [say("end")]]),
  },
  long: {
    agent: () =>
      modelled([
        ...Array.from({ length: 6 }, (_, round) => [call("look", { round })]),
        [say("end")],
      ]),
  },
  respond: {
    agent: () => defineAgent({ respond: async (run) => void (await run.write("hello")) }),
  },
};

function modelled(replies: readonly ScriptedReply[]): Agent {
  return defineAgent({ model: scriptedModel(replies), tools, stall: false });
}

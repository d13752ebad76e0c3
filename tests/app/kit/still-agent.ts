import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { call, emit, fail, say, scriptedModel, stall, think } from "@millrace/core/testing";
import type { ScriptedPart } from "@millrace/core/testing";
import { callId, partId } from "@millrace/core/writing";
import { z } from "zod";
import { essay, finding, thought } from "../../../apps/chat/src/demo/texts.ts";

const input = z.object({}).loose();
const done = defineTool({
  name: "deploys",
  input,
  effect: "pure",
  run: () => "since Tuesday: 4 found",
});
const failing = defineTool({
  name: "metrics",
  input,
  effect: "pure",
  run: () => {
    throw new Error("timed out after 30 s, tried twice");
  },
});
const running = defineTool({
  name: "slow_queries",
  input,
  effect: "pure",
  run: (_, { progress, signal }) => {
    progress({ message: "scanning 14:00 to 15:00 · 6,204 of 10,000 lines" });
    return new Promise<string>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
    });
  },
});
const asking = defineTool({ name: "run_sql", input, approve: () => "ask", run: () => "done" });

const half = { partId: partId("half") };

/** A text that is half written. */
const halfText = emit(
  { op: "begin_part", kind: "text", ...half },
  { op: "append_text", chunk: essay.slice(0, 900), ...half },
);

/** A call whose arguments are half written. */
const halfCall = emit(
  { op: "begin_part", kind: "tool_call", callId: callId("half"), tool: "explain", ...half },
  { op: "append_text", chunk: '{"sql":"select * from orders where custo', ...half },
);

const script: Readonly<Record<string, readonly ScriptedPart[]>> = {
  streaming: [think(thought), halfText, stall()],
  writing: [say("I look at its plan."), halfCall, stall()],
  tools: [
    think(thought),
    say(
      "I'll line the deploys up with the latency first, then read the slow queries of the same hour.",
    ),
    call("deploys", { since: "Tuesday" }),
    call("metrics", { metric: "checkout_p95" }),
    call("slow_queries", { from: "14:00", to: "15:00" }),
  ],
  approval: [
    say(finding),
    call("run_sql", {
      database: "production",
      sql: "create index concurrently orders_customer_id_idx on orders (customer_id);",
    }),
  ],
  whole: [
    { usage: { inputTokens: 18_204, outputTokens: 1_904, cachedTokens: 0, cost: 0.07 } },
    think(thought),
    say(essay),
  ],
  failed: [
    say("I begin to answer, and then"),
    fail("overloaded", "the model is overloaded, and gave up after 3 attempts"),
  ],
};

/** An agent that comes to a state of the page at once, and stays in it: the prompt names the state. */
export function stillAgent(): Agent {
  const reply: Model["stream"] = (request) =>
    scriptedModel(
      [
        ({ transcript }) => {
          const [part] = transcript.findLast(({ author }) => author === "user")?.parts ?? [];
          return script[part?.kind === "text" ? part.text : ""] ?? [say("Hm.")];
        },
      ],
      { chunk: "whole" },
    ).stream(request);
  const model: Model = { id: "still", stream: reply };
  return defineAgent({
    name: "still",
    model,
    tools: [done, failing, running, asking],
    stall: false,
  });
}

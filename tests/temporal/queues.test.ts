/** Tools with a task queue of their own. */
import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { until } from "../kit/until.ts";
import { type Cluster, connectTo, startServers } from "./cluster.ts";

const started = new AsyncDisposableStack();
afterAll(() => started.disposeAsync());
let cluster: Cluster;
/** The tools that have begun, each with the worker in which it runs. */
const begun: string[] = [];

beforeAll(async () => {
  const servers = started.use(await startServers());
  cluster = started.use(await connectTo(servers));
}, 300_000);

test(
  "a tool with a queue runs in the worker of that queue alone, while others run elsewhere",
  { timeout: 120_000 },
  async () => {
    await cluster.work({ agent: agentOf("default") });
    await cluster.work({ agent: agentOf("gpu"), taskQueue: "gpu", workflows: false });
    const talk = await cluster.talk("two-queues");

    await talk.send("draw and read, four times");
    await talk.handle.result();

    expect((await talk.facts()).at(-1)).toMatchObject({
      type: "run_finished",
      outcome: "completed",
    });
    const each = ["draw in gpu", "read in default"];
    expect(begun.toSorted()).toEqual(
      each.flatMap((tool) => Array<string>(rounds).fill(tool)).toSorted(),
    );
  },
);

const rounds = 4;

/** The same agent in each worker. Both tools of a round have to run at once, or neither ends. */
function agentOf(worker: string): Agent {
  const replies = Array.from({ length: rounds }, (_, round) => [
    call("draw", { round }),
    call("read", { round }),
  ]);
  const input = z.object({ round: z.number() });
  const run = async (tool: string, round: number): Promise<string> => {
    begun.push(`${tool} in ${worker}`);
    await until(() => begun.length === 2 * (round + 1), "both tools of the round run");
    return "done";
  };
  const [draw, read] = ["draw", "read"].map((name) =>
    defineTool({
      name,
      input,
      effect: "effectful",
      ...(name === "draw" ? { queue: "gpu" } : {}),
      run: ({ round }) => run(name, round),
    }),
  );
  const tools = [draw, read].flatMap((tool) => tool ?? []);
  return defineAgent({ model: scriptedModel([...replies, [say("done")]]), tools });
}

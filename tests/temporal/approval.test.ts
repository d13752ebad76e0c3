/** An approval waits for its answer in the store, whatever is restarted meanwhile. */
import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import type { FactOf } from "@millrace/core/writing";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { type Servers, connectTo, startServers } from "./cluster.ts";
import { encode, storedRuns } from "./stored-history.ts";

test(
  "an approval outlives a restart of everything, and what was approved runs once",
  { timeout: 300_000 },
  async () => {
    const ran: string[] = [];
    await using servers = await startServers();
    const question = await ask(servers, ran);
    expect(ran).toEqual([]);

    await restartAll(servers);
    await using cluster = await connectTo(servers);
    await cluster.work({ agent: agentOf(ran, [[say("sent")]]) });
    const talk = await cluster.talk("asked");
    const answer = await talk.inbox.allow(question.approvalId);
    await talk.wake();
    await talk.handle.result();

    expect(answer).toMatchObject({ accepted: true, replayed: false });
    const runs = await storedRuns(cluster.client, talk.handle.workflowId);
    const history = Buffer.concat(runs.flatMap(({ events }) => events.map(encode))).toString();
    expect(history).toContain(question.approvalId);
    expect(history).not.toContain(question.hash); // short arguments could be tried against it
    expect(ran).toEqual(["ada@example.org"]);
    const facts = await talk.facts();
    expect(facts.filter(({ type }) => type === "approval_requested")).toEqual([question]);
    expect(facts.filter(({ type }) => type === "approval_resolved")).toMatchObject([
      { approvalId: question.approvalId, decision: "allow", hash: question.hash },
    ]);
    expect(facts.filter(({ type }) => type === "tool_execution_started")).toMatchObject([
      { callId: question.callId, hash: question.hash },
    ]);
    expect(facts.at(-1)).toMatchObject({ type: "run_finished", outcome: "completed" });
  },
);

/** In one process: a prompt, and its reply whose call needs an approval. */
async function ask(servers: Servers, ran: string[]): Promise<FactOf<"approval_requested">> {
  await using cluster = await connectTo(servers);
  const replies = [[say("I send it."), call("send", { to: "ada@example.org" })]];
  await cluster.work({ agent: agentOf(ran, replies), drainMs: 100 });
  const talk = await cluster.talk("asked");
  await talk.send("send it");
  return await talk.fact("approval_requested");
}

/** All at once are gone, then all come back. Redis comes back empty. */
async function restartAll({ temporal, redis, postgres }: Servers): Promise<void> {
  const all = [temporal, temporal.postgres, redis, postgres];
  await Promise.all(all.map((server) => server.kill()));
  await Promise.all([temporal.postgres, redis, postgres].map((server) => server.restart()));
  await temporal.restart();
}

function agentOf(ran: string[], replies: Parameters<typeof scriptedModel>[0]): Agent {
  const send = defineTool({
    name: "send",
    input: z.object({ to: z.string() }),
    effect: "effectful",
    approve: "ask",
    run: ({ to }) => {
      ran.push(to);
      return "sent";
    },
  });
  return defineAgent({ model: scriptedModel(replies), tools: [send] });
}

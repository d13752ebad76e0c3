/** Real processes: a worker that is terminated, one that falls silent, and a person who stops. */
import type { Client } from "@temporalio/client";
import type { FactOf } from "@millrace/core/writing";
import { expect, it } from "vitest";
import { bundleTemporalNodes } from "../kit/deployment/bundle-temporal.ts";
import { post } from "../kit/deployment/command.ts";
import { Deployment } from "../kit/deployment/deployment.ts";
import type { DeployedNode } from "../kit/deployment/deployment.ts";
import { until } from "../kit/until.ts";
import { connectClient } from "./kit/connect-client.ts";
import { PromptedSession } from "./kit/prompted-session.ts";
import { storedRuns } from "./stored-history.ts";

it(
  "a reply goes on after its worker is terminated or falls silent, and ends as stopped by a person's stop alone",
  { timeout: 300_000 },
  async () => {
    await using programs = await bundleTemporalNodes();
    await using deployment = await Deployment.start({
      programs,
      drives: "temporal",
      workers: 3,
      webs: 1,
      agent: { chunkMs: 30 },
      drainMs: 300,
    });
    await using client = await connectClient(deployment.temporal?.url);
    const names = ["terminated", "silent", "stopped"] as const;
    const sessions = await Promise.all(names.map((n) => PromptedSession.create(deployment, n)));
    using stack = new DisposableStack();
    for (const session of sessions) stack.use(session);
    const [terminated, silent, stopped] = sessions;
    if (terminated === undefined || silent === undefined || stopped === undefined) return;

    const first = await beginReply(terminated);
    await first.process.terminate(); // it ends by itself
    await terminated.ended();
    const second = await beginReply(silent);
    second.process.stop();
    await silent.ended();
    second.process.cont();
    await beginReply(stopped);
    const { sessionId: session } = stopped.record;
    const { addresses } = deployment;
    await post({ call: "abort", key: "a" }, { session, addresses, patienceMs: 30_000 });
    await stopped.ended();

    const ends = await Promise.all(sessions.map(endOf));
    expect(ends.map(({ outcome }) => outcome)).toEqual(["completed", "completed", "aborted"]);
    expect(await lastFailures(client, terminated)).toMatchObject([
      { applicationFailureInfo: { type: "WorkerShutdown" } },
    ]);
    expect(await lastFailures(client, silent)).toMatchObject([
      { timeoutFailureInfo: { timeoutType: 4 } }, // of heartbeats
    ]);
    expect(await lastFailures(client, stopped)).toEqual([]);
    for (const one of [terminated, silent]) {
      expect(await one.judge()).toEqual([]);
      const facts = await one.facts();
      expect(facts.some((f) => f.type === "input_accepted" && f.input.kind === "abort")).toBe(
        false,
      );
    }
    expect(deployment.strays).toEqual([]);
  },
);

/** Prompts the session, and waits until a worker writes its reply. */
async function beginReply(session: PromptedSession): Promise<DeployedNode> {
  await session.prompt("plain", 400);
  await until(() => session.shownText > 20 && session.writer !== undefined, "a worker writes");
  const { writer } = session;
  if (writer === undefined) throw new Error("no worker");
  return writer;
}

async function endOf(session: PromptedSession): Promise<FactOf<"run_finished">> {
  const end = (await session.facts()).at(-1);
  if (end?.type !== "run_finished") throw new Error("the run goes on");
  return end;
}

/** Why attempts at steps were repeated, as Temporal has stored it. */
async function lastFailures(client: Client, { record }: PromptedSession): Promise<unknown[]> {
  const runs = await storedRuns(client, `session:${record.uid}`);
  return runs.flatMap(({ events }) =>
    events.flatMap((event) => event.activityTaskStartedEventAttributes?.lastFailure ?? []),
  );
}

import { randomUUID } from "node:crypto";
import { emptyState, replay, snapshot } from "@millrace/core/reading";
import { expect, it } from "vitest";
import { bundleTemporalNodes } from "../kit/deployment/bundle-temporal.ts";
import { Deployment } from "../kit/deployment/deployment.ts";
import { isSealed, textOfItem } from "../kit/deployment/paced-agent.ts";
import { until } from "../kit/until.ts";
import { connectClient } from "./kit/connect-client.ts";
import { PromptedSession } from "./kit/prompted-session.ts";

/** What a viewer sees of a reset. Without one it would be a fault. */
const itemsUndone = "a snapshot without items that were shown";

it(
  "a workflow that is reset to before its calls makes them again, and nothing of the run before it is left",
  { timeout: 600_000 },
  async () => {
    await using programs = await bundleTemporalNodes();
    await using deployment = await Deployment.start({
      programs,
      drives: "temporal",
      workers: 1,
      webs: 1,
      agent: { chunkMs: 60 },
    });
    await using client = await connectClient(deployment.temporal?.url);
    using session = await PromptedSession.create(deployment, "s1");
    const { uid, sessionId } = session.record;
    await session.prompt("effect", 300);
    const before = client.workflow.getHandle(`session:${uid}`);
    const isInLastReply = (): boolean => deployment.effects().length === 1 && session.shownText > 0;
    await until(isInLastReply, "the reply after the call streams");
    const { runId } = await before.describe();
    const completed = (await before.fetchHistory()).events?.flatMap(({ eventId, ...event }) =>
      event.workflowTaskCompletedEventAttributes ? [eventId] : [],
    );

    await client.workflowService.resetWorkflowExecution({
      namespace: "default",
      workflowExecution: { workflowId: `session:${uid}`, runId },
      reason: "an operator wants the calls again",
      requestId: randomUUID(),
      workflowTaskFinishEventId: completed?.[1] ?? null, // the one that began the call
    });
    await session.ended();

    const facts = await session.facts();
    const claims = facts.filter((fact) => fact.type === "session_claimed");
    const state = replay(emptyState(uid, sessionId), facts);
    const items = state.items.toArray();
    expect(claims).toHaveLength(2);
    const to = claims[1]?.to ?? 0;
    const undone = facts.slice(to, (claims[1]?.n ?? 0) - 1);
    expect(undone.map(({ type }) => type)).toContain("tool_execution_started");
    expect(items.map(({ author }) => author)).toEqual(["user", "model", "tool", "model"]);
    expect(items.every((item) => item.author !== "model" || isSealed(textOfItem(item)))).toBe(true);
    expect(deployment.effects()).toHaveLength(2);
    const unexpected = session.viewer.checks.faults.filter((fault) => fault !== itemsUndone);
    expect(unexpected).toEqual([]);
    expect(snapshot(session.viewer.state ?? state)).toEqual(snapshot(state));
    expect((await deployment.store.verify(sessionId)).ok).toBe(true);
    expect(deployment.strays).toEqual([]);
  },
);

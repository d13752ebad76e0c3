import { project } from "@millrace/core";
import { apply, emptyState, restore } from "@millrace/core/reading";
import { sessionId, sessionUid } from "@millrace/core/writing";
import type { SessionState } from "@millrace/core";
import type { Cursor, FollowedSession } from "@millrace/core/reading";
import { memorySessionStore } from "@millrace/core/memory";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { expect, it, vi } from "vitest";
import { z } from "zod";
import type { Agent } from "../define/agent.ts";
import { defineAgent } from "../define/define-agent.ts";
import { defineTool } from "../definition/tool.ts";

/** Generous for a busy machine. A passing test takes a fraction of it. */
const patience = { timeout: 60_000 };
const soon = { timeout: 5_000 };
const input = z.object({});
const pay = defineTool({ name: "pay", input, approve: "ask", run: () => "paid" });
const locate = defineTool({ name: "locate", input, output: z.string(), run: "client" });

/** An agent whose sub-agent requests an approval, then a client's answer. Nested this many levels. */
function parentOf(depth: number): Agent {
  let agent: Agent = defineAgent({
    model: scriptedModel([[call("pay", {})], [call("locate", {})], [say("Paid.")]]),
    tools: [pay, locate],
  });
  for (let level = 0; level < depth; level += 1) {
    const helper = agent.asTool({ name: "helper", description: "Helps" });
    const model = scriptedModel([[call("helper", { prompt: "pay" })], [say("Done.")]]);
    agent = defineAgent({ model, tools: [helper] });
  }
  return agent;
}

/** A viewer: a state and a cursor for each session of which it got messages. */
class Viewer {
  readonly states = new Map<string, SessionState>();
  readonly cursors = new Map<string, Cursor>();
  readonly facts: string[] = [];

  take({ sessionId: name, message, cursor }: FollowedSession): void {
    const known = this.states.get(name) ?? emptyState(cursor.uid, sessionId(name));
    this.states.set(name, "uid" in message ? restore(message) : apply(known, message).state);
    this.cursors.set(cursor.uid, cursor);
    if ("n" in message) this.facts.push(`${name} ${message.n}`);
  }
}

it.each([1, 2])(
  "a question of a sub-agent %i deep reaches who watches its parent, and is answered from there",
  patience,
  async (depth) => {
    const store = memorySessionStore();
    await using session = await parentOf(depth).open({ id: "s", store });
    const viewer = new Viewer();
    const run = session.send("go");
    const asked: string[] = [];
    for await (const followed of session.watch()) {
      viewer.take(followed);
      const { sessionId: name, message } = followed;
      const [approval] = project(
        viewer.states.get(name) ?? emptyState(sessionUid("u"), session.id),
      ).approvals;
      if (approval !== undefined && !asked.includes(approval.id)) {
        expect(name).not.toBe(session.id);
        asked.push(approval.id);
        expect(await session.child(name).allow(approval.id).accepted).toEqual({ accepted: true });
      }
      if (
        "n" in message &&
        message.type === "tool_execution_started" &&
        message.tool === "locate"
      ) {
        const answered = session.child(name).answer(message.callId, { output: "Oslo" });
        expect(await answered.accepted).toEqual({ accepted: true });
      }
      const over = "n" in message && message.type === "run_finished" && name === session.id;
      if (over) break;
    }

    expect(await run.result).toMatchObject({ outcome: "completed", text: "Done." });
    expect(viewer.states.size).toBe(depth + 1);
    expect(new Set(viewer.facts).size).toBe(viewer.facts.length);
    for (const { uid, sessionId: name, head } of viewer.states.values()) {
      const facts = await store.read(uid);
      expect(facts.every((fact) => fact.sessionId === name)).toBe(true);
      expect(head).toBeGreaterThan(0);
    }
  },
);

it(
  "a viewer that comes back with its cursors is given what it lacks of each session, once",
  patience,
  async () => {
    const store = memorySessionStore();
    await using session = await parentOf(1).open({ id: "s", store });
    const viewer = new Viewer();
    const run = session.send("go");
    const until = async (stop: (followed: FollowedSession) => boolean): Promise<void> => {
      const cursors = [...viewer.cursors.values()];
      for await (const followed of session.watch({ cursors })) {
        viewer.take(followed);
        if (stop(followed)) return;
      }
    };
    const isOf =
      (type: string) =>
      ({ message }: FollowedSession) =>
        "n" in message && message.type === type;
    const waits = ({ sessionId: name }: FollowedSession): boolean =>
      (viewer.states.get(name)?.approvals.length ?? 0) > 0;
    await until(waits);
    const child = [...viewer.states.keys()].find((name) => name !== session.id) ?? "";
    const [approval] = viewer.states.get(child)?.approvals ?? [];
    if (approval === undefined) throw new Error("no question came");
    session.child(child).allow(approval.asked.approvalId);

    // The call that names the child is before the parent's cursor.
    await until(isOf("tool_execution_finished"));
    for (const [index, fact] of viewer.facts.entries())
      expect(viewer.facts.indexOf(fact)).toBe(index);
    expect(viewer.states.get(child)?.approvals[0]?.answer?.decision).toBe("allow");
    run.abort();
    await run.result;
  },
);

it("a sub-agent that begins after its viewer has joined is followed too", patience, async () => {
  await using session = await parentOf(1).open({ id: "s", store: memorySessionStore() });
  const viewer = new Viewer();
  const leaving = new AbortController();
  const watching = (async (): Promise<void> => {
    for await (const followed of session.watch({ signal: leaving.signal })) viewer.take(followed);
  })();
  await vi.waitFor(() => expect(viewer.states.size).toBe(1), soon);
  const run = session.send("go");

  await vi.waitFor(() => expect(viewer.states.size).toBe(2), soon);
  run.abort();
  await run.result;
  leaving.abort();
  await watching;
});

it(
  "an answer to an unknown session, or to another session's sub-agent, is refused",
  patience,
  async () => {
    const store = memorySessionStore();
    await using asking = await parentOf(1).open({ id: "asking", store });
    await using other = await parentOf(1).open({ id: "other", store });
    const run = asking.send("go");
    const [child] = await vi.waitUntil(async () => {
      const { records } = await store.page({ parent: "asking" });
      return records[0]?.status === "paused" ? records : undefined;
    }, soon);

    for (const id of ["nowhere", "asking", child?.sessionId ?? ""]) {
      const { accepted } = await other.child(id).allow("approval_1").accepted;
      expect(accepted).toBe(false);
    }
    expect((await store.find(child?.sessionId ?? ""))?.status).toBe("paused");
    run.abort();
    await run.result;
  },
);

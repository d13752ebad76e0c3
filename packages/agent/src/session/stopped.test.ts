import { noUsage } from "@millrace/core/writing";
import type { SessionStore } from "@millrace/core/ports";
import type { FactOf } from "@millrace/core/writing";
import { memorySessionStore } from "@millrace/core/memory";
import { call, fail, say, scriptedModel, stall } from "@millrace/core/testing";
import { expect, it, vi } from "vitest";
import { z } from "zod";
import { defineAgent } from "../define/define-agent.ts";
import type { AgentSettings, CustomAgentSettings } from "../definition/settings.ts";
import { defineTool } from "../definition/tool.ts";
import type { Tool } from "../definition/tool.ts";
import type { Session } from "./session.ts";

/** Generous for a busy machine. A passing test takes a fraction of it. */
const patience = { timeout: 60_000 };
const soon = { timeout: 5_000 };
const input = z.object({});

const slow = defineTool({
  name: "slow",
  input,
  run: (_, { signal }) =>
    new Promise<string>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
    }),
});
const pay = defineTool({ name: "pay", input, approve: "ask", run: () => "paid" });
const look = defineTool({ name: "look", input, effect: "pure", run: () => "seen" });
const locate = defineTool({ name: "locate", input, output: z.string(), run: "client" });
const busy = fail("overloaded", "too busy", { retryable: true });

interface Place {
  readonly settings: AgentSettings<readonly Tool[]> | CustomAgentSettings;
  /** Resolves once the run is where it is to be stopped. */
  readonly reached: (session: Session) => Promise<unknown>;
}

const seen =
  (type: string) =>
  async ({ run }: Session): Promise<unknown> => {
    for await (const event of run ?? []) if (event.type === type) return event;
    return undefined;
  };

const places: Readonly<Record<string, Place>> = {
  "inside a reply": {
    settings: { model: scriptedModel([[say("Hel"), stall()]]) },
    reached: seen("content_delta"),
  },
  "inside a tool": {
    settings: { model: scriptedModel([[say("Wait."), call("slow", {})]]), tools: [slow] },
    reached: seen("tool_execution_started"),
  },
  "beside a tool that has its answer": {
    settings: {
      model: scriptedModel([[call("look", {}), call("slow", {})]]),
      tools: [look, slow],
    },
    reached: seen("tool_execution_finished"),
  },
  "while an approval is awaited": {
    settings: { model: scriptedModel([[call("pay", {})]]), tools: [pay] },
    reached: seen("approval_requested"),
  },
  "while a client's answer is awaited": {
    settings: { model: scriptedModel([[call("locate", {})]]), tools: [locate] },
    reached: seen("tool_execution_started"),
  },
  "between two attempts": {
    settings: {
      model: scriptedModel([[say("Hel"), busy]]),
      retry: { attempts: 2, baseMs: 600_000, capMs: 600_000 },
    },
    reached: seen("retry_scheduled"),
  },
  "in a compaction": {
    settings: {
      model: scriptedModel([
        [{ usage: { ...noUsage, inputTokens: 900 } }, call("look", {})],
        [stall()],
      ]),
      tools: [look],
      context: { window: 1_000, compactAbove: 0.5, keep: 1 },
    },
    reached: seen("compaction_started"),
  },
  "in an agent's own code, between two items": {
    settings: {
      respond: async (run) => {
        await run.write("First.");
        await new Promise((resolve) => run.signal.addEventListener("abort", resolve));
      },
    },
    reached: seen("item_committed"),
  },
};

/** Checks the view and the stored facts of a stopped run. */
async function expectStopped(session: Session, store: SessionStore): Promise<void> {
  const { uid } = (await store.find(session.id)) ?? {};
  const facts = uid === undefined ? [] : await store.read(uid);
  const turns = facts.filter(
    (fact): fact is FactOf<"turn_finished"> => fact.type === "turn_finished",
  );
  const cut = session.transcript.filter(
    ({ author, stop }) => author !== "tool" && stop === "aborted",
  );
  expect(cut).toHaveLength(1);
  expect(turns.at(-1)?.stop).toBe("aborted");
  expect(session.transcript.at(-1)).toBe(cut[0]);
  expect(session.items.at(-1)).toMatchObject({ stop: "aborted", cause: { code: "aborted" } });
  expect(session.lastRun).toMatchObject({ outcome: "aborted" });
  expect(session.status).toBe("idle");
}

it.each(Object.entries(places))(
  "a run that is stopped %s shows the stop, before and after reopening",
  patience,
  async (_, { settings, reached }) => {
    const store = memorySessionStore();
    const agent = defineAgent(settings);
    const session = await agent.open({ id: "s", store });
    const run = session.send("hi");
    await vi.waitFor(() => expect(session.run).toBeDefined(), soon);
    await reached(session);
    const story: string[] = [];
    run.abort();
    for await (const narrated of run.narrate())
      if (narrated.type === "turn_finished") story.push(narrated.stop);
      else if (narrated.type === "run_finished") story.push(narrated.outcome);

    expect(await run.result).toMatchObject({ outcome: "aborted" });
    expect(story.slice(-2)).toEqual(["aborted", "aborted"]);
    await expectStopped(session, store);
    await session.close();
    const again = await agent.open({ id: "s", store });
    await expectStopped(again, store);
    await again.close();
  },
);

it("the view shows how the last run ended until the next one starts", patience, async () => {
  const model = scriptedModel([[say("Hello.")], [fail("refused", "no")], [say("Hello again.")]]);
  await using session = await defineAgent({ model }).open();
  expect(session.lastRun).toBeUndefined();
  await session.send("hi").result;
  expect(session.lastRun).toMatchObject({ outcome: "completed" });
  const failed = session.send("hi");
  await failed.result;
  expect(session.lastRun).toMatchObject({
    outcome: "failed",
    runId: failed.id,
    cause: { code: "refused" },
  });
});

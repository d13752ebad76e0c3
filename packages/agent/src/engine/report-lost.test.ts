import { createInbox } from "@millrace/core";
import type { Fact, Model } from "@millrace/core";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { call, say, scriptedModel, stall } from "@millrace/core/testing";
import type { ScriptedPart } from "@millrace/core/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Limits } from "../definition/limits.ts";
import { defineTool } from "../definition/tool.ts";
import { defineAgent } from "../define/define-agent.ts";
import { laneItemIdOf } from "../loop/ids.ts";
import { openEngineSession } from "./open.ts";
import type { EngineSession } from "./open.ts";
import type { StepAnswer, StepRequest } from "./step.ts";

/** A session that waits for its first reply, in a worker that never ends one. */
async function engineFixture(limits: Limits, reply: readonly ScriptedPart[] = [say("a"), stall()]) {
  const [store, log] = [memorySessionStore(), memoryEventLog()];
  const run = (_: object, { signal }: { readonly signal: AbortSignal }): Promise<string> =>
    new Promise((_resolve, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason)),
    );
  const burn = defineTool({ name: "burn", input: z.object({}), effect: "pure", run });
  const model: Model = { id: "m", stream: (request) => scriptedModel([reply]).stream(request) };
  const agent = defineAgent({ model, tools: [burn], limits });
  const record = await store.create({ sessionId: "s" });
  await createInbox({ uid: record.uid, store, log }).send("go", { key: "a" });
  const facts = (): Promise<readonly Fact[]> => store.read(record.uid);
  return { open: () => openEngineSession({ agent, record, store, log }), facts };
}

const first = { by: "r1", head: 1, generation: 1, given: 1 } as const;

/** Performs one attempt in a worker of its own. One that is killed stores nothing from then on. */
async function attempt(
  session: EngineSession,
  request: StepRequest,
  { wasLost, isKilled }: { readonly wasLost: boolean; readonly isKilled: boolean },
): Promise<StepAnswer | "killed"> {
  const lost = new AbortController();
  const isCurrent = async (): Promise<boolean> => true;
  const context = { signal: lost.signal, isCurrent, wasLost: async () => wasLost };
  const answer = session.step(request, context);
  if (!isKilled) return await answer;
  setTimeout(() => lost.abort(), 20);
  await answer.catch(() => undefined);
  await session.close();
  return "killed";
}

const countLost = (facts: readonly Fact[]): number =>
  facts.filter((fact) => fact.type === "usage_reported" && fact.lost === true).length;

describe("a step that is repeated", () => {
  it("stores that the attempt before was lost, and ends a run that has lost as many as it may", async () => {
    const { open, facts } = await engineFixture({ lost: 2 });
    const reply = { ...first, work: "reply" } as const;

    for (const tries of [1, 2])
      await attempt(
        await open(),
        { ...reply, attempt: tries },
        { wasLost: tries > 1, isKilled: true },
      );
    expect(countLost(await facts())).toBe(1);
    await attempt(await open(), { ...reply, attempt: 3 }, { wasLost: true, isKilled: false });

    expect(countLost(await facts())).toBe(2);
    expect((await facts()).at(-1)).toMatchObject({ cause: { code: "driver_lost" } });
  });

  it("stores nothing if its worker gave the attempt before back", async () => {
    const { open, facts } = await engineFixture({ lost: 1, tokens: 1 });
    const reply = { ...first, work: "reply" } as const;

    for (const tries of [1, 2, 3])
      await attempt(await open(), { ...reply, attempt: tries }, { wasLost: false, isKilled: true });

    expect(countLost(await facts())).toBe(0);
    expect((await facts()).map(({ type }) => type)).not.toContain("run_finished");
  });

  it("counts a lost call that may run again, and answers it when the run ends", async () => {
    const { open, facts } = await engineFixture({ lost: 1 }, [call("burn", {})]);
    await attempt(
      await open(),
      { ...first, work: "reply", attempt: 1 },
      { wasLost: false, isKilled: false },
    );
    const stored = await facts();
    const turn = stored.flatMap((fact) => (fact.type === "turn_started" ? [fact.turnId] : []));
    const calls = turn.map((turnId) => laneItemIdOf(turnId, 1));
    const execute = { by: "r1", head: stored.length, work: "execute", calls } as const;
    const step = { ...execute, generation: 2, given: 2 };
    await attempt(await open(), { ...step, attempt: 1 }, { wasLost: false, isKilled: true });

    await attempt(await open(), { ...step, attempt: 2 }, { wasLost: true, isKilled: false });

    expect((await facts()).slice(-5).map(({ type }) => type)).toEqual([
      "usage_reported",
      "item_committed",
      "tool_execution_finished",
      "turn_finished",
      "run_finished",
    ]);
  });
});

describe("a run of the engine that takes over", () => {
  it.each([
    [true, "goes on where it was continued", 0],
    [undefined, "counts the driver as lost where it was started anew", 1],
  ])("with continues: %j %s", async (continues, _, lost) => {
    const { open, facts } = await engineFixture({ lost: 1 });
    await attempt(
      await open(),
      { ...first, work: "reply", attempt: 1 },
      { wasLost: false, isKilled: true },
    );
    await using session = await open();

    const look = { by: "r2", head: 0, generation: 0, given: 0, attempt: 1 } as const;
    await attempt(session, { ...look, continues }, { wasLost: false, isKilled: false });

    const ended = (await facts()).filter(({ type }) => type === "run_finished");
    expect(ended).toHaveLength(lost);
  });
});

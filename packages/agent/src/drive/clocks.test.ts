import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { call, fail, manualClock, say, scriptedModel, stall } from "@millrace/core/testing";
import type { ManualClock } from "@millrace/core/testing";
import type { Clock } from "@millrace/core/ports";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Agent } from "../define/agent.ts";
import { defineAgent } from "../define/define-agent.ts";
import { defineTool } from "../definition/tool.ts";
import { pass, passUntil, reached } from "../testing/outages.ts";

const hour = 3_600_000;
const jumps = [0, hour, -hour];
const pay = defineTool({ name: "pay", input: z.object({}), approve: "ask", run: () => "paid" });

/** The clock of a host, whose wall clock is ahead of the time that passes, and can be set. */
function hostClock(time: ManualClock, ahead = 0): Clock & { ahead: number } {
  const host = { ...time, ahead, now: () => time.now() + host.ahead };
  return host;
}

function asking() {
  const model = scriptedModel([[call("pay", {})], [say("done")]]);
  return defineAgent({ model, tools: [pay], approvalTimeoutMs: 60_000 });
}

/** Lets time pass until that long after the test began. */
async function passTo(time: ManualClock, ms: number): Promise<void> {
  await passUntil(time, () => time.monotonic() >= ms);
}

/** A session on a store whose clock is its own, as a server's is. */
async function openSession(agent: Pick<Agent, "open">, time = manualClock(100 * hour)) {
  const store = memorySessionStore({ clock: time });
  const log = memoryEventLog();
  const clock = hostClock(time);
  const session = await agent.open({ id: "s", store, log, clock });
  return { time, store, log, clock, session };
}

describe.each(jumps)("a wall clock that is set by %i ms", (jump) => {
  it("leaves a question open for the rest of its 60 s", async () => {
    const { time, clock, session } = await openSession(asking());
    session.send("go");
    await reached(() => session.approvals.length === 1);
    await pass(time, 30_000);

    clock.ahead = jump;
    session.followUp("still there?"); // makes the driver decide
    await pass(time, 28_000);
    expect(session.approvals).toHaveLength(1);

    expect(await passUntil(time, () => session.approvals.length === 0)).toBeLessThan(3_000);
    await session.close();
  });

  it("leaves a run the rest of its seconds", async () => {
    const { time, clock, session } = await openSession(asking());
    const run = session.send("go", { limits: { seconds: 40 } });
    await reached(() => session.approvals.length === 1);
    await passTo(time, 20_000);

    clock.ahead = jump;
    session.followUp("still there?");
    await passTo(time, 38_000);
    expect(session.status).not.toBe("idle");

    await passTo(time, 42_000);
    expect(await run.result).toMatchObject({ outcome: "limited", limit: "seconds" });
    await session.close();
  });

  it("changes no wait before a retry", async () => {
    const busy = fail("overloaded", "too busy", {
      retryable: true,
      evidence: { retryAfterMs: 20_000 },
    });
    const model = scriptedModel([[busy], [say("done")]]);
    const { time, clock, session } = await openSession(defineAgent({ model }));
    session.send("go");
    await pass(time, 10_000);

    clock.ahead = jump;
    session.steer("still there?");
    await pass(time, 9_000);
    expect(session.status).toBe("running");

    expect(await passUntil(time, () => session.status === "idle")).toBeLessThan(3_000);
    await session.close();
  });

  it("changes no patience with a silent model", async () => {
    const time = manualClock(100 * hour);
    const model = scriptedModel([[say("so far"), stall(100 * hour)]], { clock: time });
    const retry = { attempts: 1, baseMs: 500, capMs: 500 };
    const agent = defineAgent({ model, retry, stall: { giveUpAfterMs: 60_000 } });
    const { clock, session } = await openSession(agent, time);
    session.send("go");
    await pass(time, 30_000);

    clock.ahead = jump;
    await pass(time, 29_000);
    expect(session.status).toBe("running");

    expect(await passUntil(time, () => session.status === "idle")).toBeLessThan(5_000);
    await session.close();
  });
});

describe.each(jumps)("a host whose wall clock is ahead of another's by %i ms", (ahead) => {
  it("denies a question 60 s after the other one asked it, by the store's clock", async () => {
    const agent = asking();
    const { time, store, log, session } = await openSession(agent);
    session.send("go");
    await reached(() => session.approvals.length === 1);
    await session.close();
    await pass(time, 10_000);

    const next = await agent.open({ id: "s", store, log, clock: hostClock(time, ahead) });
    await pass(time, 48_000);
    expect(next.approvals).toHaveLength(1);

    expect(await passUntil(time, () => next.approvals.length === 0)).toBeLessThan(3_000);
    await next.close();
  });

  it("ends the other one's run at its limit, by the store's clock", async () => {
    const agent = asking();
    const { time, store, log, session } = await openSession(agent);
    session.send("go", { limits: { seconds: 40 } });
    await reached(() => session.approvals.length === 1);
    await session.close();
    await passTo(time, 10_000);

    const next = await agent.open({ id: "s", store, log, clock: hostClock(time, ahead) });
    await passTo(time, 38_000);
    expect(next.status).not.toBe("idle");

    expect(await passUntil(time, () => next.status === "idle")).toBeLessThan(4_000);
    expect(next.lastRun).toMatchObject({ outcome: "limited" });
    await next.close();
  });
});

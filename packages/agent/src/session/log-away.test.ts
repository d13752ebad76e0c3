import { createInbox } from "@millrace/core";
import type { RunEvent } from "@millrace/core";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { call, manualClock, say, scriptedModel } from "@millrace/core/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineAgent } from "../define/define-agent.ts";
import { defineTool } from "../definition/tool.ts";
import { flakyLog, flakyStore, pass, passUntil, reached } from "../testing/outages.ts";

const pay = defineTool({ name: "pay", input: z.object({}), approve: "ask", run: () => "paid" });

/** A session on a log that can be cut, and an inbox of another process on the same store. */
async function openSession({ cut = false } = {}) {
  const clock = manualClock(1_000_000);
  const flaky = flakyStore(memorySessionStore({ clock }));
  const { store } = flaky;
  const shared = memoryEventLog();
  const link = flakyLog(shared);
  if (cut) link.cut();
  const events: RunEvent[] = [];
  const agent = defineAgent({
    model: scriptedModel([[call("pay", {})], [say("done")]]),
    tools: [pay],
    observers: [(event) => events.push(event)],
  });
  const session = await agent.open({ id: "s", store, log: link.log, clock });
  const uid = (await store.find("s"))?.uid ?? "";
  const inbox = createInbox({ store, log: shared, uid });
  const connections = () =>
    events.flatMap((event) => (event.type === "connection_changed" ? [event.connection] : []));
  return { clock, flaky, store, link, session, inbox, connections };
}

describe("a session whose log was away for a moment", () => {
  it("takes an approval of another process as soon as it is announced", async () => {
    const { clock, link, session, inbox } = await openSession();
    session.send("go");
    await reached(() => session.approvals.length === 1);
    link.cut();
    await pass(clock, 500);
    link.restore();
    await pass(clock, 1_000);

    await inbox.allow(session.approvals[0]?.id ?? "");

    expect(await passUntil(clock, () => session.approvals.length === 0)).toBeLessThan(500);
    await session.close();
  });

  it("is live again, and its observers get each change", async () => {
    const { clock, link, session, connections } = await openSession();
    expect(session.connection).toBe("live");

    link.cut();
    await pass(clock, 10_000);
    expect(session.connection).toBe("polling");
    link.restore();
    await pass(clock, 5_000);

    expect(session.connection).toBe("live");
    expect(connections()).toEqual(["polling", "live"]);
    await session.close();
  });
});

describe("a session whose log is away", () => {
  it("takes an approval and a prompt of another process within one poll", async () => {
    const { clock, link, session, inbox } = await openSession();
    session.send("go");
    await reached(() => session.approvals.length === 1);
    link.cut();
    await pass(clock, 5_000);

    await inbox.allow(session.approvals[0]?.id ?? "");
    expect(await passUntil(clock, () => session.approvals.length === 0)).toBeLessThanOrEqual(1_100);
    await passUntil(clock, () => session.status === "idle");

    const before = session.items.length;
    await inbox.send("again");
    const waited = await passUntil(clock, () => session.items.length > before);
    expect(waited).toBeLessThanOrEqual(1_100);
    await session.close();
  });

  it("is stopped by another process within one poll, without anything that awaits its run", async () => {
    const { clock, link, session, inbox } = await openSession();
    session.send("go");
    await reached(() => session.approvals.length === 1);
    link.cut();
    await pass(clock, 5_000);

    await inbox.abort();

    expect(await passUntil(clock, () => session.status === "idle")).toBeLessThanOrEqual(1_100);
    expect(session.lastRun?.outcome).toBe("aborted");
    await session.close();
  });

  it("opens, runs to the end, and is live once the log is back", async () => {
    const { clock, link, session, connections } = await openSession({ cut: true });
    expect(session.connection).toBe("polling");

    const run = session.send("go");
    await reached(() => session.approvals.length === 1);
    session.allow(session.approvals[0]?.id ?? "");
    await passUntil(clock, () => session.status === "idle");

    expect(await run.text()).toBe("done");
    link.restore();
    await pass(clock, 5_000);
    expect(session.connection).toBe("live");
    expect(connections()).toEqual(["polling", "live"]);
    await session.close();
  });

  it("takes what an inbox without a session sends", async () => {
    const { clock, link, session, store } = await openSession({ cut: true });
    const uid = (await store.find("s"))?.uid ?? "";
    const inbox = createInbox({ store, log: link.log, uid });

    expect(await inbox.send("go")).toMatchObject({ accepted: true });
    await inbox.announced();

    const waited = await passUntil(clock, () => session.items.length > 0);
    expect(waited).toBeLessThanOrEqual(1_100);
    await session.close();
  });
});

describe("the head of an open session", () => {
  it("is polled whether or not a run is awaited", async () => {
    const { clock, session, store } = await openSession();
    const uid = (await store.find("s"))?.uid ?? "";
    const inbox = createInbox({ store, log: memoryEventLog(), uid }); // announces to nobody

    await inbox.send("go");

    const waited = await passUntil(clock, () => session.items.length > 0, 10_000);
    expect(waited).toBeLessThanOrEqual(6_000);
    await session.close();
  });

  it("is read no more often because the run is read 2,000 times", async () => {
    const { clock, session, flaky } = await openSession();
    session.send("go");
    await reached(() => session.approvals.length === 1);
    let reads = 0;
    flaky.onCall = () => (reads += 1);

    const runs = new Set(Array.from({ length: 2_000 }, () => session.run));
    await pass(clock, 60_000);

    expect(runs.size).toBe(1);
    expect(reads).toBeLessThanOrEqual(13);
    await session.close();
  });

  it("is not polled after the session was closed", async () => {
    const { clock, session, flaky } = await openSession();
    await session.close();
    let reads = 0;
    flaky.onCall = () => (reads += 1);

    await pass(clock, 60_000);

    expect([reads, clock.sleepers()]).toEqual([0, 0]);
  });
});

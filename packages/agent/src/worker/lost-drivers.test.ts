import type { RunId, SessionUid } from "@millrace/core";
import type { SessionStore } from "@millrace/core/ports";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { say, scriptedModel, stall } from "@millrace/core/testing";
import { expect, it, vi } from "vitest";
import { defineAgent } from "../define/define-agent.ts";
import { processPorts } from "../testing/process-ports.ts";
import { createWorker } from "./create-worker.ts";
import type { WorkerEvent } from "./worker.ts";

const patience = { timeout: 60_000 };
const soon = { timeout: 20_000, interval: 20 };

/** A run whose first driver was killed in the middle of its reply. */
async function orphanFixture() {
  const ports = { store: memorySessionStore(), log: memoryEventLog() };
  const dying = processPorts(ports.store, ports.log);
  const agent = defineAgent({ model: scriptedModel([[say("begun"), stall()]]) });
  const session = await agent.open({ ...dying.ports, id: "s" });
  const run = session.send("go");
  await run.until("content_delta");
  dying.kill();
  const { uid } = (await ports.store.find(session.id)) ?? {};
  if (uid === undefined) throw new Error("the session is not stored");
  return { ports, uid, run: run.id };
}

/** Claims the run as one more driver that ends at once. */
async function loseDriver(store: SessionStore, uid: SessionUid, resumes: RunId): Promise<void> {
  const [due] = (await store.drivers?.due()) ?? [];
  const request = { from: due?.incarnation ?? 0, head: await store.head(uid), resumes };
  await store.claim(uid, { ...request, driver: `dead_${request.from}` });
}

function workerOptions(ports: { store: SessionStore; log: ReturnType<typeof memoryEventLog> }) {
  const events: WorkerEvent[] = [];
  const agent = defineAgent({ model: scriptedModel([[say("done")]]) });
  const onEvent = (event: WorkerEvent): void => void events.push(event);
  return { events, options: { ...processPorts(ports.store, ports.log).ports, agent, onEvent } };
}

it(
  "a run that has lost five drivers in a row is listed as poisoned and put off, then driven",
  patience,
  async () => {
    const { ports, uid, run } = await orphanFixture();
    for (let lost = 0; lost < 5; lost += 1) await loseDriver(ports.store, uid, run);
    const { events, options } = workerOptions(ports);
    await using worker = await createWorker(options);
    void worker.run();

    await vi.waitFor(() => expect(worker.poisoned()).toHaveLength(1), soon);
    expect(worker.poisoned()[0]).toMatchObject({ sessionId: "s", tries: 5 });
    expect(String(worker.poisoned()[0]?.error)).toMatch(/lost 5 drivers in a row/);
    expect(await ports.store.drivers?.due()).toMatchObject([{ incarnation: 6 }]);
    await vi.waitFor(async () => expect(await ports.store.drivers?.due()).toEqual([]), soon);
    expect(events.filter(({ type }) => type === "session_failed")).toHaveLength(1);
    await vi.waitFor(() => expect(worker.poisoned()).toEqual([]), soon);
  },
);

it("a run that has lost fewer drivers is taken over at once", patience, async () => {
  const { ports, uid, run } = await orphanFixture();
  for (let lost = 0; lost < 4; lost += 1) await loseDriver(ports.store, uid, run);
  const { events, options } = workerOptions(ports);
  await using worker = await createWorker(options);
  void worker.run();

  await vi.waitFor(async () => expect(await ports.store.drivers?.due()).toEqual([]), soon);
  expect(events.map(({ type }) => type)).toEqual(["session_taken"]);
});

/** Web nodes and a real Temporal server, without any worker: what nodes start and signal stays in its history. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { systemClock } from "@millrace/core/memory";
import { temporalDriver } from "@millrace/temporal/client";
import { Client, Connection } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTemporal } from "../../../scripts/services/temporal.ts";
import type { TemporalServer } from "../../../scripts/services/temporal.ts";
import { retryWhenNoisy } from "../../kit/retry-when-noisy.ts";
import { until } from "../../kit/until.ts";
import { Site } from "./site.ts";
import type { SeenWorkflow } from "./site.ts";
import { WebNode } from "./web-node.ts";

const starting = 240_000;
const secret = "the lighthouse keeper's sandwich";

let temporal: TemporalServer;
let site: Site;
let sessions = 0;

beforeAll(async () => {
  temporal = await startTemporal();
  site = await Site.open(temporal);
}, starting);

afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await temporal.close();
}, starting);

function newSession(): string {
  sessions += 1;
  return `session-${sessions}`;
}

/** The workflow of a session, when it has the signal of this head. */
async function workflowAt(tenant: string, session: string, head: number): Promise<SeenWorkflow> {
  let seen: SeenWorkflow | undefined;
  const hasHead = async (): Promise<boolean> => {
    seen = await site.workflowOf(tenant, session).catch(() => undefined);
    return JSON.stringify(seen?.signals.at(-1)) === `[${head}]`;
  };
  await until(hasHead, `a signal with ${head}`, { everyMs: 100 });
  return seen ?? fail();
}

function fail(): never {
  throw new Error("no workflow");
}

test("a prompt starts one workflow of its session, with ids and the head and no content", async () => {
  await using node = new WebNode(site.url, temporal.url);
  const session = newSession();
  await node.create("t1", session);
  expect(await site.workflowOf("t1", session)).toBeUndefined();

  const n = await node.send("t1", session, secret);
  const { uid } = await site.find("t1", session);
  const { described, summary, signals, starts, text } = await workflowAt("t1", session, n);

  expect(described).toMatchObject({
    workflowId: `session:${uid}`,
    type: "agentWorkflow",
    taskQueue: "millrace",
    status: { name: "RUNNING" },
  });
  expect(summary).toBe(`session ${session}`);
  expect([starts, signals]).toEqual([1, [[n]]]);
  const args = JSON.stringify({ uid, sessionId: session, tenant: "t1" });
  expect(text).toContain(JSON.stringify(args));
  expect(text).not.toContain(secret);
});

test("two nodes that post to one session signal one workflow", async () => {
  await using one = new WebNode(site.url, temporal.url);
  await using two = new WebNode(site.url, temporal.url);
  const session = newSession();
  await one.create("t2", session);

  const first = await one.send("t2", session, "from one");
  await workflowAt("t2", session, first);
  const second = await two.send("t2", session, "from two");
  const { signals, starts } = await workflowAt("t2", session, second);

  expect([starts, signals]).toEqual([1, [[first], [second]]]);
});

test("two nodes that post at once to a session without a workflow start one", async () => {
  await using one = new WebNode(site.url, temporal.url);
  await using two = new WebNode(site.url, temporal.url);
  const session = newSession();
  await one.create("t1", session);

  const heads = await Promise.all(
    [one, two].map((node) => node.send("t1", session, "at the same time")),
  );

  let seen: SeenWorkflow | undefined;
  await until(async () => {
    seen = await site.workflowOf("t1", session);
    return seen?.signals.length === 2;
  }, "both signals");
  expect(seen?.starts).toBe(1);
  expect(new Set(seen?.signals.flat())).toEqual(new Set(heads));
});

test("a hundred wakes of a session make few signals, and the last has the highest head", async () => {
  const connection = Connection.lazy({ address: temporal.url });
  const client = new Client({ connection });
  const session = newSession();
  await site.store.forTenant("t1").create({ sessionId: session });
  const { uid, sessionId } = await site.find("t1", session);
  await using driver = temporalDriver({ client, store: site.store, taskQueue: "another" });

  for (let head = 1; head <= 100; head += 1) {
    driver.wake({ uid, sessionId, tenant: "t1", head });
    await setImmediate();
  }

  const { described, signals } = await workflowAt("t1", session, 100);
  console.log(`count: wakes of a session become signals, 100 to ${signals.length}, 0 failures`);
  expect(signals.length).toBeLessThan(25);
  expect(described.taskQueue).toBe("another");
  await driver.close();
  await client.workflow.getHandle(`session:${uid}`).describe(); // the application's client is open
  await connection.close();
});

test("a node that is killed after it stored a prompt is made up for by the sweep of another", async () => {
  await using other = new WebNode(site.url, temporal.url);
  await other.create("t1", newSession()); // it is up

  const killed = async (): Promise<{ readonly ms: number }> => {
    const session = newSession();
    const program = fileURLToPath(new URL("./dying-node.ts", import.meta.url));
    const flags = ["--conditions=@millrace/source", "--no-warnings"];
    const given = [site.url, "t3", session, secret];
    const child = spawn(process.execPath, [...flags, program, ...given], { stdio: "inherit" });
    expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
    const died = performance.now();
    expect(await site.workflowOf("t3", session)).toBeUndefined();

    const { head } = await site.find("t3", session);
    await workflowAt("t3", session, head);
    return { ms: Math.round(performance.now() - died) };
  };
  const { ms } = await retryWhenNoisy(killed, (figures) => figures.ms < 10_000);

  console.log(`count: a wake lost with its node is repeated after ${ms} ms, 1, 0 failures`);
  expect(ms).toBeLessThan(10_000);
}, 180_000);

test("a session whose workflow an operator has ended gets another one, though its head was sent", async () => {
  const soon = (ms: number, signal?: AbortSignal): Promise<void> =>
    systemClock.sleep(ms / 20, signal);
  const clock = { ...systemClock, sleep: soon, idle: soon };
  const driver = temporalDriver({ address: temporal.url, store: site.store, clock });
  await using node = new WebNode(site.url, driver); // which closes it
  const session = newSession();
  await node.create("t1", session);
  const n = await node.send("t1", session, "hello");
  const { described: first } = await workflowAt("t1", session, n);
  const connection = Connection.lazy({ address: temporal.url });
  const handle = new Client({ connection }).workflow.getHandle(first.workflowId);

  await handle.terminate("an operator does not want it");
  let next = first;
  await until(
    async () => {
      next = await handle.describe();
      return next.runId !== first.runId;
    },
    "the next workflow",
    { everyMs: 100 },
  );

  expect(next.status.name).toBe("RUNNING");
  expect((await workflowAt("t1", session, n)).signals).toEqual([[n]]);
  await connection.close();
}, 120_000);

test("a prompt is answered while Temporal is away, and its workflow starts when Temporal is back", async () => {
  await using node = new WebNode(site.url, temporal.url);

  const outage = async (): Promise<{ readonly answered: number; readonly back: number }> => {
    const session = newSession();
    await node.create("t1", session);
    node.events.length = 0;
    await temporal.kill();
    const posted = performance.now();
    await node.send("t1", session, "first");
    const n = await node.send("t1", session, "second");
    const answered = Math.round(performance.now() - posted);
    await until(() => node.events.length > 0, "the outage is noticed");
    await temporal.restart();
    const restarted = performance.now();

    const { starts } = await workflowAt("t1", session, n);

    const back = Math.round(performance.now() - restarted);
    expect(starts).toBe(1);
    await until(() => node.events.length > 1, "the end of the outage is noticed");
    expect(node.events.map(({ type }) => type)).toEqual(["temporal_away", "temporal_back"]);
    return { answered, back };
  };
  const { answered, back } = await retryWhenNoisy(outage, (figures) => figures.back < 10_000);

  console.log(`count: two prompts during an outage of Temporal take ${answered} ms, 1, 0 failures`);
  console.log(`count: a workflow starts ${back} ms after Temporal is back, 1, 0 failures`);
  expect(answered).toBeLessThan(5_000); // less than one try of a signal may take
  expect(back).toBeLessThan(10_000);
}, 600_000);

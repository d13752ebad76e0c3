import { defineAgent } from "@millrace/agent";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { say, scriptedModel } from "@millrace/core/testing";
import type { NativeConnection } from "@temporalio/worker";
import { afterEach, expect, test, vi } from "vitest";
import { createWorker } from "./create-worker.ts";

const agent = defineAgent({ model: scriptedModel([[say("hello")]]) });
const ports = { agent, store: memorySessionStore(), log: memoryEventLog() };
// Never called: only what it has is looked at.
const nothing = (): undefined => undefined;
const connection = { close: nothing, setApiKey: nothing } as unknown as NativeConnection;

afterEach(() => vi.unstubAllEnvs());

/** One case for each option, and for each pair that contradicts itself. */
const refused: readonly [string, object, string][] = [
  ["nothing", { agent: undefined }, "agent is missing: pass what defineAgent made"],
  ["an agent's settings", { agent: { model: {} } }, "agent is an object with model"],
  ["a store without claims", { store: {} }, "store is an object without fields: pass the store"],
  ["no log", { log: undefined }, "log is missing: pass the log of the server, such as redisLog"],
  ["a folder of blobs", { blobs: "files" }, 'blobs is "files": pass the blob store'],
  ["an empty address", { address: "" }, "address is"],
  ["an empty namespace", { namespace: "" }, "namespace is"],
  ["a key that is no text", { apiKey: 17 }, "apiKey is a number: use a text or a function"],
  ["a yes for allowPlain", { allowPlain: "yes" }, "allowPlain is"],
  ["an address as connection", { connection: "a:1" }, "pass a NativeConnection of @temporalio"],
  ["an address beside it", { connection, address: "a:1" }, "address is given beside a connection"],
  ["a key beside it", { connection, apiKey: "k" }, "apiKey is given beside a connection"],
  ["another machine without TLS", { address: "temporal.example:7233" }, "set tls: true"],
  ["TLS switched off beside a key", { address: "t.example:1", tls: false, apiKey: "k" }, "tls"],
  ["an empty queue", { taskQueue: "" }, "taskQueue is"],
  ["a path of workflows", { workflows: "./workflows.ts" }, "workflows is"],
  ["workflows in the web", { workflows: new URL("http://127.0.0.1/w.js") }, "the URL of a file"],
  ["a heartbeat in seconds", { heartbeatMs: 20 }, "use a whole number of milliseconds from 500"],
  ["an endless heartbeat", { heartbeatMs: Infinity }, "heartbeatMs is Infinity"],
  ["a drain of minus one", { drainMs: -1 }, "drainMs is -1"],
  ["a list for the SDK", { sdk: [] }, "sdk is a list of 0"],
  ["a queue for the SDK", { sdk: { taskQueue: "a" } }, "write it as taskQueue"],
  ["workflows for the SDK", { sdk: { workflowsPath: "a" } }, "write it as workflows"],
  ["the SDK's own name", { workflowsPath: "a" }, "workflowsPath is no option of createWorker"],
  ["an unknown name", { adress: "a:1" }, "adress is no option of createWorker"],
];

test.each(refused)("%s is refused, with what to do", async (_, options, message) => {
  const made = createWorker({ ...ports, ...options });

  await expect(made).rejects.toMatchObject({
    code: "invalid_definition",
    message: expect.stringContaining(message) as string,
  });
});

test("an address of the environment is checked as one that is given", async () => {
  vi.stubEnv("TEMPORAL_ADDRESS", "temporal.example:7233");

  await expect(createWorker(ports)).rejects.toThrow("the connection to temporal.example");
});

test("what passes the checks is connected to", async () => {
  vi.stubEnv("TEMPORAL_ADDRESS", "127.0.0.1:1"); // nothing listens there

  const made = createWorker({ ...ports, heartbeatMs: 500, drainMs: 0, workflows: false });

  await expect(made).rejects.toMatchObject({ name: "TransportError" });
});

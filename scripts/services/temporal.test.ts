import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callGrpc, encodeField } from "./grpc.ts";
import { findProcess, findTree } from "./process-table.ts";
import { startTemporal } from "./temporal.ts";
import { firstLine, startNode } from "./testing.ts";

test("a Temporal server of our own answers, is killed, restarted on the same port, and closed with its database", async () => {
  const server = await startTemporal();
  const { pid, port, postgres } = server;
  const processes = [...findTree(pid), ...findTree(postgres.pid)];

  expect(await postgres.query("select name from namespaces order by name", "temporal")).toBe(
    "default\ntemporal-system",
  );
  await server.kill();
  await server.restart();
  expect(server.port).toBe(port);
  expect(server.pid).not.toBe(pid);
  await server.close();

  const alive = processes.filter((one) => findProcess(one.pid)?.started === one.started);
  expect(alive).toEqual([]);
  expect([server.folder, postgres.folder].filter(existsSync)).toEqual([]);
});

test("`npm run services` starts Temporal too, prints its address, and ends it on Ctrl-C", async () => {
  const child = startNode([join(import.meta.dirname, "main.ts")]);
  const exit = once(child, "exit");
  const line = await firstLine(child, "TEMPORAL_ADDRESS=");
  const port = Number(/^TEMPORAL_ADDRESS=127\.0\.0\.1:(\d+)$/.exec(line)?.[1]);
  const namespace = encodeField(1, "default");
  const describe = "/temporal.api.workflowservice.v1.WorkflowService/DescribeNamespace";
  expect(String(await callGrpc(port, describe, namespace))).toContain("default");

  child.kill("SIGINT");

  expect(await exit).toEqual([0, null]);
  await expect(callGrpc(port, describe, namespace)).rejects.toThrow("ECONNREFUSED");
});

import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { findProcess, findTree } from "./process-table.ts";
import { startTemporal } from "./temporal.ts";

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

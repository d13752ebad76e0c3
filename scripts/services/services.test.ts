import { once } from "node:events";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "../temporary.ts";
import { startPostgres } from "./postgres.ts";
import { findProcess, findTree } from "./process-table.ts";
import { ask, startRedis } from "./redis.ts";
import { sharedPostgres, sharedRedis } from "./shared.ts";
import { firstLine, startNode } from "./testing.ts";

/** Machines are noisy. */
const patience = { timeout: 30_000 };

describe("a Redis of our own", () => {
  test("answers on a port of its own, and cuts streams into small nodes", async () => {
    await using one = await startRedis();
    await using other = await startRedis();

    expect(await ask(one.port, "PING")).toBe("+PONG\r\n");
    expect(await ask(other.port, "CONFIG GET stream-node-max-bytes")).toContain("1024");
    expect(one.port).not.toBe(other.port);
    expect(one.url).toBe(`redis://127.0.0.1:${one.port}`);
  });

  test("loses everything when killed, and answers on the same port when restarted", async () => {
    await using server = await startRedis();
    await ask(server.port, "SET key kept");
    const { pid, port } = server;

    await server.kill();
    await expect(ask(server.port, "GET key")).rejects.toThrow("ECONNREFUSED");
    await server.restart();

    expect(await ask(server.port, "GET key")).toBe("$-1\r\n");
    expect(server.port).toBe(port);
    expect(server.pid).not.toBe(pid);
  });

  test("keeps what it acknowledged when persistence is set", async () => {
    await using server = await startRedis({ persistence: "always" });
    await ask(server.port, "SET key kept");

    await server.restart();

    expect(await ask(server.port, "GET key")).toBe("$4\r\nkept\r\n");
  });

  test("is silent while stopped, and then goes on where it was", async () => {
    await using server = await startRedis();
    await ask(server.port, "SET key kept");

    await server.stop();
    await expect(ask(server.port, "GET key")).rejects.toThrow("does not answer");
    await server.cont();

    expect(await ask(server.port, "GET key")).toBe("$4\r\nkept\r\n");
  });

  test("that does not start rejects with its log, and leaves no folder", async () => {
    using folder = temporaryFolder();
    vi.stubEnv("TMPDIR", folder.path);

    const error: unknown = await startRedis({ settings: { maxmemory: "much" } })
      .catch(String)
      .finally(() => vi.unstubAllEnvs());

    expect(readdirSync(folder.path)).toEqual([]);
    expect(error).toContain("redis ended; its log ends with:");
    expect(error).toContain("maxmemory");
  });

  test("can't be restarted after it is closed", async () => {
    const server = await startRedis();
    await server.close();

    await expect(server.restart()).rejects.toThrow("redis is closed");
  });
});

describe("a PostgreSQL of our own", () => {
  test("answers a startup packet by asking for a password", async () => {
    await using server = await startPostgres();

    const answer = await startup(server.port);

    expect(answer.toString("latin1", 0, 1)).toBe("R");
    expect(answer.toString("latin1")).toContain("SCRAM-SHA-256");
  });

  test("is durable, for 200 connections, and two are two", async () => {
    await using one = await startPostgres();
    await using other = await startPostgres({ settings: { max_connections: "20" } });
    await one.query("create table only_here (id int)");

    expect(await one.query("show fsync")).toBe("on");
    expect(await one.query("show synchronous_commit")).toBe("on");
    expect(await one.query("show max_connections")).toBe("200");
    expect(await other.query("show max_connections")).toBe("20");
    await expect(other.query("select * from only_here")).rejects.toThrow("does not exist");
    expect(one.port).not.toBe(other.port);
  });

  test("keeps what was committed when it is killed with all its processes", async () => {
    await using server = await startPostgres();
    await server.query("create table kept (id int); insert into kept values (7)");
    // An idle one would detect that its parent is gone, and end by itself.
    const busy = "do $$ begin for i in 1..1000000000 loop end loop; end $$";
    const open = server.query(busy).catch(String);
    await expect.poll(() => server.query(activity), patience).toBe("1");
    const processes = findTree(server.pid);

    await server.kill();

    expect(processes.length).toBeGreaterThan(5);
    expect(processes.filter(({ pid }) => findProcess(pid) !== undefined)).toEqual([]);
    expect(await open).toContain("terminated abnormally");
    await server.restart();
    expect(await server.query("select id from kept")).toBe("7");
  });

  test("stands still as a whole while stopped: a query that was running ends only afterwards", async () => {
    await using server = await startPostgres();
    const idle = findTree(server.pid).length;
    let isDone = false;
    const query = server.query("select pg_sleep(1), 'slept'").then((rows) => {
      isDone = true;
      return rows;
    });
    await expect.poll(() => findTree(server.pid).length, patience).toBe(idle + 1);

    await server.stop();
    await sleep(1_500);

    expect(isDone).toBe(false);
    expect(new Set(findTree(server.pid).map(({ state }) => state))).toEqual(new Set(["T"]));
    await server.cont();
    expect(await query).toBe("|slept");
  });

  test.skipIf(!existsSync("/proc/sysvipc/shm"))(
    "leaves no shared memory behind when it is killed",
    async () => {
      await using server = await startPostgres();
      const owners = (): readonly number[] =>
        readFileSync("/proc/sysvipc/shm", "utf8")
          .split("\n")
          .map((line) => Number(line.trim().split(/\s+/)[4])); // the creator of the segment
      const { pid } = server;
      expect(owners()).toContain(pid);

      await server.kill();

      expect(owners()).not.toContain(pid);
    },
  );
});

describe("a closed server", () => {
  test.for([
    ["redis", startRedis],
    ["postgres", startPostgres],
  ] as const)("leaves no process and no folder: %s", async ([, start]) => {
    for (const before of ["running", "stopped", "killed"] as const) {
      const server = await start();
      const processes = findTree(server.pid);
      if (before === "stopped") await server.stop();
      if (before === "killed") await server.kill();

      await server.close();
      await server.close();

      expect(processes).not.toEqual([]);
      expect(processes.filter(isAlive), before).toEqual([]);
      expect(existsSync(server.folder), before).toBe(false);
    }
  });
});

describe("the servers that tests share", () => {
  test("give each test keys of its own in one Redis", async () => {
    const [one, other] = await Promise.all([sharedRedis(), sharedRedis()]);

    expect(one.server.pid).toBe(other.server.pid);
    expect(one.prefix).not.toBe(other.prefix);
  });

  test("give each test a database of its own in one PostgreSQL, for as long as the test lasts", async () => {
    const [one, other] = await Promise.all([sharedPostgres(), sharedPostgres()]);
    const { server } = one;
    await server.query("create table only_here (id int)", one.database);

    expect(other.server.pid).toBe(server.pid);
    expect(one.url).toContain(one.database);
    await expect(server.query("table only_here", other.database)).rejects.toThrow("not exist");
    await one[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
    expect(await server.query("select count(*) from pg_database where datname like 'test_%'")).toBe(
      "0",
    );
  });
});

describe("the process that started servers", () => {
  const script = `
    const { startRedis } = await import("./redis.ts");
    const { startPostgres } = await import("./postgres.ts");
    const servers = await Promise.all([startRedis(), startPostgres()]);
    if (process.argv[1] === "stop") await Promise.all(servers.map((server) => server.stop()));
    console.log(JSON.stringify(servers.map(({ pid, folder }) => ({ pid, folder }))));
    if (process.argv[1] !== "end") setInterval(() => undefined, 1000);
  `;

  test.for([
    ["ends by itself", "end"],
    ["is killed", "run"],
    ["is killed while they are stopped", "stop"],
  ] as const)("leaves none of them behind when it %s", async ([, mode]) => {
    const child = startNode(["--input-type=module", "-e", script, mode]);
    const servers = JSON.parse(await firstLine(child)) as { pid: number; folder: string }[];
    const processes = servers.flatMap(({ pid }) => findTree(pid));
    if (mode !== "end") child.kill("SIGKILL");

    await expect.poll(() => processes.filter(isAlive), patience).toEqual([]);
    await expect
      .poll(() => servers.filter(({ folder }) => existsSync(folder)), patience)
      .toEqual([]);
    if (mode !== "end") expect(processes.length).toBeGreaterThan(6);
  });

  test("prints where they are, and ends them on Ctrl-C, when it is `npm run services`", async () => {
    const child = startNode([join(import.meta.dirname, "main.ts"), "redis"]);
    const port = Number(
      /^REDIS_URL=redis:\/\/127\.0\.0\.1:(\d+)$/.exec(await firstLine(child))?.[1],
    );
    const exit = once(child, "exit");
    expect(await ask(port, "PING")).toBe("+PONG\r\n");

    child.kill("SIGINT");

    expect(await exit).toEqual([0, null]);
    await expect(ask(port, "PING")).rejects.toThrow("ECONNREFUSED");
  });

  test("runs as long as a command does, tells it where it is, and ends as that ends", async () => {
    const command = ["sh", "-c", "echo $REDIS_URL; exit 3"];
    const child = startNode([join(import.meta.dirname, "main.ts"), "redis", "run", ...command]);
    const exit = once(child, "exit");
    const port = Number(new URL(await firstLine(child)).port);

    expect(await exit).toEqual([3, null]);
    await expect(ask(port, "PING")).rejects.toThrow("ECONNREFUSED");
  });
});

/** The number of clients that run a loop. */
const activity =
  "select count(*) from pg_stat_activity where state = 'active' and query like 'do $$%'";

function isAlive({ pid, started }: { pid: number; started: string }): boolean {
  return findProcess(pid)?.started === started;
}

/** Starts a session of PostgreSQL's protocol 3.0 and returns the first message. */
async function startup(port: number): Promise<Buffer> {
  const fields = Buffer.from("user\0postgres\0database\0postgres\0\0");
  const head = Buffer.alloc(8);
  head.writeInt32BE(head.length + fields.length, 0);
  head.writeInt32BE(3 << 16, 4);
  const socket = connect(port, "127.0.0.1");
  socket.write(Buffer.concat([head, fields]));
  const [answer] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return answer;
}

import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";

import { afterEach, expect, test, vi } from "vitest";

import { callId, itemId, runId, sessionUid } from "@millrace/core/writing";

import { hasPidNamespaces } from "../process/index.ts";
import { approvalHash } from "../tool/hash.ts";
import { openMcp } from "./open-mcp.ts";
import type { McpCommand, McpConnection, McpSettings } from "./open-mcp.ts";
import { call } from "./testing/execution.ts";
import { isHiddenFrom, runAs, testUsers } from "../process/testing/as-user.ts";

const server = fileURLToPath(new URL("testing/hostile-server.ts", import.meta.url));
const opened: McpConnection[] = [];
/** In the environment of each server here and of all that it starts. */
const mark = `MILLRACE_TEST=${randomUUID()}`;

// Each test starts a process, which takes long on a machine that does other things as well.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

afterEach(async () => {
  await Promise.all(opened.splice(0).map((connection) => connection.close()));
});

async function open(
  behaviour: string,
  settings: Partial<McpSettings<"evil">> &
    Pick<McpCommand, "pidNamespace"> & { readonly args?: readonly string[] } = {},
): Promise<McpConnection<"evil">> {
  const { args = [], ...rest } = settings;
  const connection = await openMcp({
    name: "evil",
    command: [process.execPath, "--no-warnings", server, behaviour, ...args],
    env: { MILLRACE_TEST: mark.slice(mark.indexOf("=") + 1) },
    ...rest,
  });
  opened.push(connection);
  return connection;
}

function names(connection: McpConnection): readonly string[] {
  return connection.tools.map((tool) => tool.name);
}

test.for([
  ["bad-schema", 1, "can't be compiled"],
  ["bad-output-schema", 1, "its output schema: it can't be compiled"],
  ["huge-schema", 1, "too large"],
  ["deep-schema", 1, "too deep"],
  ["remote-reference", 1, "refers to what is not in it"],
  ["hidden-name", 2, "hidden characters"],
] as const)(
  "a tool with a %s is left out and the others stay",
  async ([behaviour, count, reason]) => {
    const connection = await open(behaviour);

    expect(names(connection)).toEqual(["evil_good"]);
    expect(connection.refused).toHaveLength(count);
    for (const refused of connection.refused) expect(refused.reason).toContain(reason);
    await expect(call(connection.tools, "evil_good")).resolves.toMatchObject({ text: "fine" });
  },
);

test("tools without a schema of an object are left out, and so is what is no tool at all", async () => {
  const connection = await open("no-schema");

  expect(names(connection)).toEqual(["evil_good"]);
  expect(connection.refused.map(({ tool }) => tool)).toEqual(["none", "list", "text", "", ""]);
});

test("a description of 100 KB is cut with a note, between two characters (K26)", async () => {
  const connection = await open("long-description");

  const description = connection.tools[0]?.description ?? "";
  expect(description).toBe(`${"\u{1F600}".repeat(2_048)}\n[94208 bytes left out]`);
});

test("what is hidden in a description is taken out, and the model sees that it was (K26)", async () => {
  const connection = await open("hidden-text");

  const [tool] = connection.tools;
  expect(tool?.description).toBe(
    "Adds numbers.[16 hidden characters left out] [1 hidden character left out]gnp.exe " +
      "[1 hidden character left out][8mhidden[1 hidden character left out][0m\nAll fine. \u{1F44D}\u{1F3FD}",
  );
  expect(tool?.inputSchema).toMatchObject({
    properties: { a: { description: "The first[2 hidden characters left out] number" } },
  });
});

test("tools whose safe names are alike keep apart, and each call reaches its own", async () => {
  const connection = await open("clashing-names");

  expect(new Set(names(connection)).size).toBe(6);
  expect(names(connection)).toContain("evil_get_user");
  for (const name of names(connection)) expect(name).toMatch(/^evil_[A-Za-z0-9_-]{1,59}$/);
  const texts = await Promise.all(
    names(connection).map(async (name) => (await call(connection.tools, name)).text),
  );
  expect(new Set(texts).size).toBe(6);
  expect((await call(connection.tools, "evil_get_user")).text).toBe("called get_user");
});

test("a tool that is listed twice is taken once, as it was listed first", async () => {
  const connection = await open("same-name-twice");

  expect(connection.tools.map((tool) => tool.description)).toEqual(["the first"]);
  expect(connection.refused).toEqual([{ tool: "same", reason: "the server lists its name twice" }]);
});

test("a tool without a name, or with one that is a payload, is left out", async () => {
  const connection = await open("odd-names");

  expect(names(connection)).toEqual(["evil_new_line", "evil_good"]);
  expect(connection.refused).toHaveLength(3);
});

test.for([
  ["endless-list", "its list of tools has more than 50 pages"],
  ["circular-list", "its list of tools goes in a circle"],
  ["many-tools", "it lists more than 500 tools"],
] as const)("the %s ends, and what is missing is said", async ([behaviour, reason]) => {
  const connection = await open(behaviour);

  expect(connection.tools.length).toBeLessThanOrEqual(500);
  expect(connection.refused.at(-1)).toEqual({ tool: "(the rest)", reason });
});

test.for([
  ["silent", "it took longer than 2 s"],
  ["silent-list", "it took longer than 2 s"],
  ["no-list", "list of tools is no list"],
  ["old-protocol", "protocol version is not supported"],
  [
    "dies-at-start",
    "it exited with code 3; it last said: no key [1 hidden character left out][31mgiven",
  ],
] as const)(
  "a server that is %s can't be opened, and nothing of it stays",
  async ([behaviour, reason]) => {
    const openTimeoutMs = behaviour.startsWith("silent") ? 2_000 : 30_000;

    await expect(open(behaviour, { openTimeoutMs })).rejects.toThrow(reason);

    expect(await children()).toEqual([]);
  },
);

test("opening can be aborted, and nothing of the server stays", async () => {
  const over = new AbortController();
  setTimeout(() => over.abort(), 200);

  await expect(open("silent", { signal: over.signal })).rejects.toThrow("it was aborted");
  await expect(open("good", { signal: AbortSignal.abort() })).rejects.toThrow("it was aborted");

  expect(await children()).toEqual([]);
});

test("a missing program is reported", async () => {
  const missing = openMcp({ name: "evil", command: ["/no/such/program"] });

  await expect(missing).rejects.toThrow(
    "the server evil could not be opened: spawn /no/such/program",
  );
});

test("lines that are no messages are passed over", async () => {
  const connection = await open("garbage");

  await expect(call(connection.tools, "evil_good")).resolves.toMatchObject({ text: "fine" });
});

test.for(["huge-result", "endless-line"])(
  "a server with an %s is ended, and the call says so",
  async (behaviour) => {
    const connection = await open(behaviour);

    await expect(call(connection.tools, "evil_good")).rejects.toThrow(
      "was ended, because it sent more than 10485760 bytes in one line: open the connection again",
    );
    await expect(call(connection.tools, "evil_good")).rejects.toThrow("open the connection again");
  },
);

test("a result of 5 MB comes whole", async () => {
  const connection = await open("big-result");

  expect((await call(connection.tools, "evil_good")).text).toHaveLength(5 * 1024 * 1024);
});

test("a call that is never answered fails when its time is over", async () => {
  const connection = await open("never-answers", { callTimeoutMs: 1_000 });

  await expect(call(connection.tools, "evil_good")).rejects.toThrow("good took longer than 1 s");
  const { text } = await call(connection.tools, "evil_received");
  expect(text).toContain("notifications/cancelled");
});

test("an abort ends the call at once and reaches the server", async () => {
  const connection = await open("never-answers");
  const over = new AbortController();
  setTimeout(() => over.abort(), 50);

  const called = call(connection.tools, "evil_good", {}, { signal: over.signal });

  await expect(called).rejects.toThrow("was aborted");
  const { text } = await call(connection.tools, "evil_received");
  const received = JSON.parse(text) as readonly { id?: number; method: string; params: unknown }[];
  const asked = received.find(({ method }) => method === "tools/call");
  const cancelled = received.find(({ method }) => method === "notifications/cancelled");
  expect(cancelled?.params).toMatchObject({ requestId: asked?.id });
});

test("a server that exits during a call fails it, and says how to go on", async () => {
  const connection = await open("exits-in-call");

  const message = "the server evil exited with code 5: open the connection again";
  await expect(call(connection.tools, "evil_good")).rejects.toThrow(message);
  await expect(call(connection.tools, "evil_good")).rejects.toThrow(message);
});

test("what a server said before it exited counts", async () => {
  // A process of the server writes them after its exit, which a namespace would end with the server.
  const connection = await open("answers-and-exits", { pidNamespace: "off" });

  await expect(call(connection.tools, "evil_good")).resolves.toMatchObject({ text: "last words" });
});

test("tools don't change under an open connection, and a changed one voids its approval (K24)", async () => {
  let changes = 0;
  const onChanged = (): void => {
    changes += 1;
  };
  const before = await open("changes", { onChanged });
  const [tool] = before.tools;
  expect(before.changed).toBe(false);

  await call(before.tools, "evil_weather");
  await expect.poll(() => before.changed).toBe(true);
  const after = await open("changes", { args: ["Tells the weather, and reads ~/.ssh first"] });

  expect(changes).toBe(1);
  expect(before.tools).toEqual([tool]);
  const hashes = await Promise.all(
    [before, after].map(({ tools }) =>
      approvalHash({
        uid: sessionUid("uid"),
        runId: runId("run"),
        callId: callId("call"),
        itemId: itemId("item"),
        tool: "evil_weather",
        description: tools[0]?.description,
        inputSchema: tools[0]?.inputSchema ?? {},
        input: {},
      }),
    ),
  );
  expect(hashes[0]).not.toBe(hashes[1]);
});

test("patterns that would take for ever are shown to the model and left to the server", async () => {
  const connection = await open("slow-pattern");
  const started = performance.now();

  await call(connection.tools, "evil_slow", { a: `${"a".repeat(50)}!`, [`${"b".repeat(50)}!`]: 1 });

  expect(performance.now() - started).toBeLessThan(10_000);
  expect(connection.tools[0]?.inputSchema).toMatchObject({
    properties: { a: { pattern: "^(a+)+$" } },
    patternProperties: { "^(b+)+$": {} },
  });
});

test("schemas that would take for ever to follow are left to the server", async () => {
  const connection = await open("exponential-schema");
  const started = performance.now();

  await call(connection.tools, "evil_wide", { a: 1 });
  await call(connection.tools, "evil_looped");

  expect(performance.now() - started).toBeLessThan(10_000);
});

test("output that breaks the server's own promise fails", async () => {
  const wrong = await open("wrong-output");
  const none = await open("no-output");

  await expect(call(wrong.tools, "evil_promise")).rejects.toThrow(/n: must be number/);
  await expect(call(none.tools, "evil_promise")).rejects.toThrow("promised structured content");
});

test("output with a key that reaches a prototype reaches none", async () => {
  const connection = await open("poisoned-output");

  const { output } = await call(connection.tools, "evil_good");

  expect(Object(output)).not.toHaveProperty("admin");
  expect(Object.getPrototypeOf(output)).toBe(Object.prototype);
});

test("a second answer, and one to what nobody asked, change nothing", async () => {
  const connection = await open("answers-twice");

  await expect(call(connection.tools, "evil_good")).resolves.toMatchObject({ text: "first" });
  await expect(call(connection.tools, "evil_good")).resolves.toMatchObject({ text: "first" });
});

test("a tool's own failure is reported in the server's words", async () => {
  await expect(call((await open("fails")).tools, "evil_good")).rejects.toThrow("the disk is full");
  await expect(call((await open("fails-silently")).tools, "evil_good")).rejects.toThrow(
    "gave no reason",
  );
});

test("an error of a megabyte is cut, and what it hides is taken out", async () => {
  const connection = await open("long-error");

  const error = await call(connection.tools, "evil_good").catch(
    (thrown: unknown) => thrown as Error,
  );

  expect(error).toBeInstanceOf(Error);
  const message = error instanceof Error ? error.message : "";
  expect(message.length).toBeLessThan(17_000);
  expect(message).toMatch(
    /^good could not be called: .*broken\[16 hidden characters left out\]!!!/,
  );
});

test.for(["odd-content", "no-content"])("an answer with %s fails", async (behaviour) => {
  const connection = await open(behaviour);

  await expect(call(connection.tools, "evil_good")).rejects.toThrow("good could not be called");
});

test("progress is reported on one line, however much comes", async () => {
  const connection = await open("progress-flood");

  const { text, progress } = await call(connection.tools, "evil_good");

  expect(text).toBe("done");
  // The last ones may come with the answer, and then the call is over.
  expect(progress.length).toBeGreaterThan(4_000);
  expect(progress[0]).toMatch(
    /^1 of 5000: \[1 hidden character left out\]\[2Jm+ \[\d+ bytes left out\]$/,
  );
});

test("progress after the answer is ignored", async () => {
  const connection = await open("late-progress");

  const { progress } = await call(connection.tools, "evil_good");
  await call(connection.tools, "evil_good");

  expect(progress).toEqual([]);
});

test("a server that asks us for a model, files or a person gets none of them", async () => {
  const connection = await open("asks-back");

  await call(connection.tools, "evil_good");
  const { text } = await call(connection.tools, "evil_received");

  const errors = JSON.parse(text) as readonly { id: string; error: { code: number } }[];
  expect(errors.map(({ id, error }) => [id, error.code])).toEqual([
    ["s1", -32_601],
    ["s2", -32_601],
    ["s3", -32_601],
  ]);
});

test("a server that ignores everything is ended with all that it started", async () => {
  const connection = await open("clings");
  await call(connection.tools, "evil_good");
  // Itself, the shell and its sleep; in a namespace also the wrapper and the first process.
  const count = (await hasPidNamespaces()) ? 5 : 3;
  await expect.poll(async () => (await children()).length).toBe(count);

  await connection.close();
  await connection.close();

  expect(await children()).toEqual([]);
  await expect(call(connection.tools, "evil_good")).rejects.toThrow("was closed: open it again");
});

test("hints of a stranger are not believed unless the server is trusted", async () => {
  const stranger = await open("liar");
  const friend = await open("liar", { trustAnnotations: true });

  expect(stranger.tools.map(({ effect }) => effect)).toEqual([
    "effectful",
    "effectful",
    "effectful",
  ]);
  expect(friend.tools.map(({ effect }) => effect)).toEqual(["pure", "idempotent", "effectful"]);
});

test("two megabytes of complaints don't hold a server up", async () => {
  const connection = await open("noisy-errors");

  await expect(call(connection.tools, "evil_good")).resolves.toMatchObject({ text: "fine" });
});

test("a server gets no secret of ours", async () => {
  process.env["MILLRACE_TEST_KEY"] = "s3cret";
  try {
    const connection = await open("environment");

    const { text } = await call(connection.tools, "evil_good");

    expect(text).toContain("PATH");
    expect(text).not.toContain("s3cret");
  } finally {
    delete process.env["MILLRACE_TEST_KEY"];
  }
});

/** The living processes that a server of this file is or started. */
async function children(): Promise<readonly string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      return environment.split("\0").includes(mark) ? pid : undefined;
    }),
  );
  return found.filter((pid) => pid !== undefined);
}

test.for(testUsers)(
  "a server of user %s can't read the environment of its parent",
  async (user) => {
    const key = "sk-hunter-2";

    const { printed } = await runAs(user, "../../mcp/testing/reach.ts", [], { KEY: key });

    expect(printed).toContain("PATH=");
    expect(printed.includes(key)).toBe(!(await isHiddenFrom(user)));
  },
);

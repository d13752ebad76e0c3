import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";

import { describe, expect, test, vi } from "vitest";

import { executionPids } from "../process/end-execution.ts";
import { openMcp } from "./open-mcp.ts";
import type { McpConnection } from "./open-mcp.ts";
import { everythingCommand, startEverything } from "./testing/everything.ts";
import type { HttpEverything } from "./testing/everything.ts";
import { call } from "./testing/execution.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

interface Opened extends AsyncDisposable {
  readonly connection: McpConnection<"every">;
  /** Ends the server without a warning. */
  readonly kill: () => void;
}

async function openStdio(): Promise<Opened> {
  const connection = await openMcp({ name: "every", command: everythingCommand });
  const { text } = await call(connection.tools, "every_get-env");
  const environment = JSON.parse(text) as { readonly MILLRACE_EXECUTION: string };
  const execution = environment.MILLRACE_EXECUTION.split(",").at(-1)?.split(":")[0] ?? "";
  const pids = await executionPids(execution);
  return {
    connection,
    kill: () => pids.forEach((pid) => process.kill(pid, "SIGKILL")),
    [Symbol.asyncDispose]: connection.close,
  };
}

async function openHttp(): Promise<Opened> {
  const server: HttpEverything = await startEverything();
  const connection = await openMcp({ name: "every", url: server.url });
  return {
    connection,
    kill: () => server.child.kill("SIGKILL"),
    async [Symbol.asyncDispose]() {
      await connection.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe.for([
  { transport: "stdio", open: openStdio },
  { transport: "streamable HTTP", open: openHttp },
])("the protocol's own test server over $transport", ({ open }) => {
  test("lists its tools under safe names, and none is refused", async () => {
    await using opened = await open();

    const { tools, refused } = opened.connection;
    const names = tools.map((tool) => tool.name);
    expect(names).toEqual(expect.arrayContaining(["every_echo", "every_get-sum"]));
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(refused).toEqual([]);
    expect(tools.every((tool) => tool.effect === "effectful")).toBe(true);
  });

  test("answers calls, many at once", async () => {
    await using opened = await open();
    const { tools } = opened.connection;

    const { text } = await call(tools, "every_echo", { message: "hello \u{1F44B}" });
    const sums = await Promise.all(
      Array.from({ length: 50 }, (_, a) => call(tools, "every_get-sum", { a, b: 1 })),
    );

    expect(text).toBe("Echo: hello \u{1F44B}");
    expect(sums.map((sum) => sum.text)).toEqual(
      Array.from({ length: 50 }, (_, a) => `The sum of ${a} and 1 is ${a + 1}.`),
    );
  });

  test("gives structured content as output, and its text beside it", async () => {
    await using opened = await open();

    const weather = { location: "Chicago" };
    const { output, text } = await call(
      opened.connection.tools,
      "every_get-structured-content",
      weather,
    );

    expect(output).toMatchObject({ temperature: 36 });
    expect(text).toContain("36");
  });

  test("describes an image without its bytes", async () => {
    await using opened = await open();

    const { text } = await call(opened.connection.tools, "every_get-tiny-image");

    expect(text).toMatch(/\[image: image\/png, \d{4} bytes, not shown\]/);
    expect(text).not.toContain("iVBOR");
  });

  test("describes links and resources", async () => {
    await using opened = await open();
    const { tools } = opened.connection;

    const links = await call(tools, "every_get-resource-links", { count: 2 });
    const blob = await call(tools, "every_get-resource-reference", {
      resourceType: "Blob",
      resourceId: 1,
    });

    expect(links.text).toMatch(/\[link to a resource: "Text Resource 2", demo:\/\/.*text\/plain\]/);
    expect(blob.text).toMatch(/\[resource: demo:\/\/.*, \d+ bytes, not shown\]/);
  });

  test("tells progress while a call runs", async () => {
    await using opened = await open();

    const { text, progress } = await call(
      opened.connection.tools,
      "every_trigger-long-running-operation",
      { duration: 0.5, steps: 5 },
    );

    expect(text).toContain("completed");
    expect(progress).toContain("1 of 5");
    expect(progress).toContain("4 of 5");
  });

  test("lets go of a call at once when it is aborted, and answers the next", async () => {
    await using opened = await open();
    const { tools } = opened.connection;
    const over = new AbortController();
    const started = performance.now();

    const called = call(
      tools,
      "every_trigger-long-running-operation",
      { duration: 30, steps: 300 },
      { signal: over.signal, onProgress: () => over.abort() },
    );

    await expect(called).rejects.toThrow("was aborted");
    expect(performance.now() - started).toBeLessThan(15_000);
    await expect(call(tools, "every_echo", { message: "on" })).resolves.toMatchObject({
      text: "Echo: on",
    });
  });

  test("refuses input that doesn't fit before anything is sent", async () => {
    await using opened = await open();

    const called = call(opened.connection.tools, "every_get-sum", { a: "one" });

    await expect(called).rejects.toThrow("must be number");
  });

  test("fails the call that it doesn't survive", async () => {
    await using opened = await open();
    const { tools } = opened.connection;

    const called = call(
      tools,
      "every_trigger-long-running-operation",
      { duration: 30, steps: 300 },
      { onProgress: opened.kill },
    );

    await expect(called).rejects.toThrow(
      /was ended by SIGKILL|the connection ended before the answer/,
    );
    await expect(call(tools, "every_echo", { message: "?" })).rejects.toThrow();
  });
});

test("two servers of one package keep their tools apart (K25)", async () => {
  await using one = await openMcp({
    name: "one",
    command: everythingCommand,
    env: { WHO: "first" },
  });
  await using two = await openMcp({
    name: "two",
    command: everythingCommand,
    env: { WHO: "second" },
  });

  const names = [...one.tools, ...two.tools].map((tool) => tool.name);
  const [first, second] = await Promise.all([
    call(one.tools, "one_get-env"),
    call(two.tools, "two_get-env"),
  ]);

  expect(new Set(names).size).toBe(names.length);
  expect(first.text).toContain('"WHO": "first"');
  expect(second.text).toContain('"WHO": "second"');
});

test("what is called after closing fails and says what to do", async () => {
  const connection = await openMcp({ name: "every", command: everythingCommand });

  await connection.close();

  await expect(call(connection.tools, "every_echo", { message: "?" })).rejects.toThrow(
    "the connection to every was closed: open it again",
  );
});

test("headers and fetch of one's own are used for every request", async () => {
  await using server = await startEverything();
  const seen: (string | null)[] = [];
  const spy: typeof fetch = (input, init) => {
    seen.push(new Headers(init?.headers).get("authorization"));
    return fetch(input, init);
  };

  const headers = { authorization: "Bearer key" };
  await using connection = await openMcp({ name: "every", url: server.url, headers, fetch: spy });
  await call(connection.tools, "every_echo", { message: "hi" });

  expect(seen.length).toBeGreaterThan(3);
  expect(new Set(seen)).toEqual(new Set(["Bearer key"]));
});

/** A server that answers every request with the given response. */
async function openPlain(status: number, headers: Record<string, string>, body: string) {
  const server = createServer((_request, response) => {
    response.writeHead(status, headers);
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // a TCP server has no other
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test.for([
  [404, { "content-type": "text/plain" }, "not here", "not here"],
  [401, { "content-type": "text/plain" }, "who are you", "who are you"],
  [302, { location: "http://127.0.0.1:9/elsewhere" }, "", "redirect"],
  [200, { "content-type": "text/html" }, "<html>", "Unexpected content type"],
  [200, { "content-type": "application/json" }, '{"jsonrpc":"2.0"}', ""],
  [200, { "content-type": "application/json" }, `"${"x".repeat(2_000)}"`, "more than 1000 bytes"],
  [200, { "content-type": "text/event-stream" }, `data: ${"x".repeat(2_000)}`, "before the answer"],
  [200, { "content-type": "text/event-stream" }, "", "before the answer"],
] as const)(
  "an address that answers %d %o is not opened",
  async ([status, headers, body, reason]) => {
    await using server = await openPlain(status, headers, body);

    const opening = openMcp({ name: "plain", url: server.url, limitBytes: 1_000 });

    await expect(opening).rejects.toThrow(/^the server plain could not be opened/);
    await expect(opening).rejects.toThrow(reason);
  },
);

test("an address where nobody listens is not opened", async () => {
  const opening = openMcp({ name: "none", url: "http://127.0.0.1:9/mcp" });

  await expect(opening).rejects.toThrow("the server none could not be opened");
});

test.for([
  [{ name: "a_b", url: "http://127.0.0.1:9" }, "a server's name"],
  [{ name: "", url: "http://127.0.0.1:9" }, "a server's name"],
  [{ name: "a", url: "file:///etc/passwd" }, "http or https"],
  [{ name: "a", url: "not an address" }, "http or https"],
  [{ name: "a", command: [] }, "a program to start"],
  [{ name: "a", url: "http://127.0.0.1:9", callTimeoutMs: 0 }, "above 0"],
  [{ name: "a", url: "http://127.0.0.1:9", openTimeoutMs: Number.NaN }, "above 0"],
] as const)("%o is no way to describe a server", async ([options, reason]) => {
  await expect(openMcp(options)).rejects.toThrow(reason);
});

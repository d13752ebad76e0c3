// Asks the agent over HTTP, as a page or a program does. The script plays the model, so no key is needed.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createClient } from "@millrace/client";
import type { Client, ToolsOf } from "@millrace/client";
import { agent } from "../src/agent.ts";
import { demo } from "../src/demo.ts";
import { serve } from "../src/serve.ts";
import type { Served } from "../src/serve.ts";

let folder: string;
let server: Awaited<ReturnType<typeof serve>>;
let client: Client<ToolsOf<Served>>;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-test-"));
  process.env.SESSIONS = folder;
  server = await serve({
    agent: agent.with({ model: demo }),
    signIn: { authenticate: () => ({ tenant: "default", user: "ann" }) },
    port: 0,
  });
  client = createClient<Served>({ url: `${server.url}/agent` });
});

after(async () => {
  client.close();
  await server.close(0);
  await rm(folder, { recursive: true });
});

test("a reply comes in pieces, and what came is what is stored", async () => {
  const session = client.session();
  const run = session.send("Hello");
  const pieces: string[] = [];
  for await (const piece of run.textStream()) pieces.push(piece);

  assert.ok(pieces.length > 5, `${pieces.length} pieces`);
  assert.equal(pieces.join(""), await run.text());
  assert.match(pieces.join(""), /script that plays the model/);
});

test("a refund above the limit waits for a person, and runs as it was shown", async () => {
  const asked: unknown[] = [];
  const run = client.session().send("My lamp arrived broken", {
    ask: ({ tool, input }) => {
      asked.push([tool, input.order, input.cents]);
      return "allow";
    },
  });

  assert.match(await run.text(), /on their way back/);
  assert.deepEqual(asked, [["refund", "A-1042", 8_900]]);
});

test("a refund that is denied does not run", async () => {
  const session = client.session();
  const run = session.send("My lamp arrived broken", { ask: () => "deny" });

  assert.match(await run.text(), /nothing was paid back/);
  const calls = session.items.flatMap(({ parts }) => parts).filter((p) => p.kind === "tool_call");
  assert.deepEqual(
    calls.map(({ state }) => state),
    ["denied"],
  );
});

// Runs each program three times, as its user does: a question that needs a tool, one whose process
// is killed in the middle of the answer, and one more, which first continues the unfinished one.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Item } from "@millrace/core";
import { startVendorServer } from "@millrace/providers/testing";
import { fileStore } from "@millrace/stores/file";
import { text, toolCall, unfinished } from "./vendor.ts";

/** No program hangs the test, nor outlives it by long. */
const bounded = { timeout: 60_000, killSignal: "SIGKILL" } as const;
const cwd = await mkdtemp(join(tmpdir(), "millrace-your-agent-"));
try {
  for (const program of ["ai-sdk", "openai-agents"]) await check(program);
  await checkGraph();
} finally {
  await rm(cwd, { recursive: true });
}

async function check(program: string): Promise<void> {
  await using vendor = await startVendorServer({
    replies: [
      { body: toolCall("call_1", "weather", { city: "Oslo" }), chunks: "byte" },
      { body: text("It is 4 °C: ", "take a coat.") },
      { body: unfinished("The shoes "), end: "stay_open" },
      { body: text("Boots.") },
      { body: text("As I said.") },
    ],
  });
  const env = {
    PATH: process.env["PATH"],
    OPENAI_API_KEY: "k",
    OPENAI_BASE_URL: vendor.url,
    OPENAI_AGENTS_DISABLE_TRACING: "1",
  };
  const ask = (question: string): Promise<Said> => run(program, question, env);

  const first = await ask("What do I wear in Oslo?");
  assert.deepEqual(first, { stdout: "It is 4 °C: take a coat.\n", stderr: "" });
  assert.match(JSON.stringify(vendor.requests[1]?.json), /celsius/);

  const child = spawn(process.execPath, command(program, "And on my feet?"), {
    cwd,
    env,
    ...bounded,
  });
  for await (const piece of child.stdout) if (String(piece).includes("The shoes")) break;
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");

  const third = await ask("Are you sure?");
  assert.match(third.stdout, /Boots\.\nAs I said\.\n$/);
  assert.match(JSON.stringify(vendor.requests[4]?.json), /take a coat.*Boots\..*Are you sure\?/);

  // Their calls and results are parts like any other, and nothing of the killed process is stored
  // twice.
  const items = await itemsOf(program);
  const parts = items.flatMap((item) => item.parts.map((part) => ({ by: item.author, ...part })));
  const call = parts.find((part) => part.kind === "tool_call");
  const result = parts.find((part) => part.kind === "tool_result");
  assert.deepEqual([call?.tool, call?.input], ["weather", { city: "Oslo" }]);
  assert.deepEqual([result?.callId, result?.status], [call?.callId, "ok"]);
  const texts = parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  assert.deepEqual(texts, [
    "What do I wear in Oslo?",
    "It is 4 °C: take a coat.",
    "And on my feet?",
    "Boots.",
    "Are you sure?",
    "As I said.",
  ]);
  console.log(`${program}: resumed and recorded`);
}

/** Needs no vendor: the graph's model answers by itself. */
async function checkGraph(): Promise<void> {
  const env = { PATH: process.env["PATH"] };
  for (const question of ["What do I wear in Oslo?", "Are you sure?"]) {
    const said = await run("langgraph", question, env);
    assert.deepEqual(said, { stdout: "It is 4 °C: take a coat.\n", stderr: "" });
  }
  assert.deepEqual(
    (await itemsOf("langgraph")).map(({ author }) => author),
    ["user", "model", "user", "model"],
  );
  console.log("langgraph: resumed and recorded");
}

interface Said {
  readonly stdout: string;
  readonly stderr: string;
}

async function run(program: string, question: string, env: NodeJS.ProcessEnv): Promise<Said> {
  return await promisify(execFile)(process.execPath, command(program, question), {
    cwd,
    env,
    ...bounded,
  });
}

function command(program: string, question: string): string[] {
  const file = new URL(`${program}.ts`, import.meta.url).pathname;
  return ["--conditions=@millrace/source", file, question];
}

async function itemsOf(name: string): Promise<readonly Item[]> {
  await using store = fileStore(join(cwd, "sessions"));
  const record = await store.find(name);
  const facts = record === undefined ? [] : await store.read(record.uid);
  return facts.flatMap((fact) => (fact.type === "item_committed" ? [fact.item] : []));
}

// Does what the README claims: asks for a refund of 90 dollars, kills the server with SIGKILL while the question is
// open, and starts it again. The question is there with the same hash; it is allowed, and the refund runs once.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../scripts/services/server.ts";

const folder = mkdtempSync(join(tmpdir(), "millrace-readme-")); // the sessions and the token are in here
const tokenFile = join(folder, "token");
const port = String(await freePort());
const { ANTHROPIC_API_KEY: _, ...environment } = process.env; // the script answers, not a vendor
const file = new URL("server.ts", import.meta.url).pathname;
let printed = "";

async function start(): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["--conditions=@millrace/source", file], {
    cwd: folder,
    env: { ...environment, PORT: port, MILLRACE_TOKEN_FILE: tokenFile },
    stdio: ["ignore", "pipe", "inherit"],
  });
  child.stdout.on("data", (bytes: Buffer) => (printed += bytes.toString()));
  for (const end = Date.now() + 30_000; ; await sleep(50)) {
    const isUp = await fetch(`http://127.0.0.1:${port}/v1/health`).catch(() => undefined);
    if (isUp !== undefined) return child;
    assert.ok(child.exitCode === null && Date.now() < end, "the server starts");
  }
}

async function request<Answer>(path: string, body?: object): Promise<Answer> {
  const authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`;
  const post = { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(`http://127.0.0.1:${port}/v1/sessions${path}`, {
    ...(body && post),
    headers: {
      authorization,
      "content-type": "application/json",
      "idempotency-key": crypto.randomUUID(),
    },
  });
  assert.ok(response.ok, await response.clone().text());
  return (await response.json()) as Answer; // the routes are checked elsewhere
}

interface Approvals {
  readonly approvals: readonly { id: string; tool: string; hash: string; input: unknown }[];
}

async function question(): Promise<Approvals["approvals"][number]> {
  for (const end = Date.now() + 20_000; ; await sleep(50)) {
    const { approvals } = await request<Approvals>("/support/approvals");
    if (approvals[0] !== undefined) return approvals[0];
    assert.ok(Date.now() < end, "a question waits");
  }
}

let server = await start();
try {
  const input = { kind: "prompt", text: "Please refund order A1: 90 dollars." };
  await request("", { id: "support", input });
  const before = await question();
  assert.deepEqual(before.input, { order: "A1", cents: 9_000 });

  server.kill("SIGKILL");
  await once(server, "exit");
  assert.equal(printed, "", "nothing was paid");
  server = await start();

  const after = await question();
  assert.equal(after.hash, before.hash);
  await request(`/support/approvals/${after.id}`, { decision: "allow", hash: after.hash });
  for (const end = Date.now() + 20_000; ; await sleep(50)) {
    const { status } = await request<{ status: string }>("/support");
    if (status === "idle") break;
    assert.ok(Date.now() < end, `the run ends: ${status}`);
  }
  assert.equal(printed, "paid back 9000 cents for A1\n");
  console.log("readme: killed while the question was open, same hash afterwards, paid once");
} finally {
  server.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}

// Starts each application and has one conversation with it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";

const headers = { authorization: "Bearer token-of-ann", "content-type": "application/json" };

/** Makes a session with its first prompt, waits for the run, and watches how the session stands. */
async function converse(call: typeof fetch, base: string): Promise<void> {
  const key = `key-${crypto.randomUUID()}`;
  const post = { method: "POST", headers: { ...headers, "idempotency-key": key } };
  const body = JSON.stringify({ id: "trip", input: { kind: "prompt", text: "Oslo?" } });
  const made = await call(`${base}/v1/sessions`, { ...post, body });
  assert.equal(made.status, 201, await made.clone().text());
  const wait = { headers: { ...headers, prefer: "wait=20" } };
  const run = await call(`${base}/v1/sessions/trip/runs/run_${key}`, wait);
  assert.equal(((await run.json()) as { text: string }).text, "Pack a raincoat.");
  const events = await call(`${base}/v1/sessions/trip/events`, {
    headers: { ...headers, accept: "text/event-stream" },
  });
  const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("raincoat")) text += (await reader?.read())?.value ?? assert.fail(text);
  await reader?.cancel();
  const stranger = await call(`${base}/v1/sessions/trip`, {});
  assert.equal(stranger.status, 401);
}

for (const [name, path] of [
  ["node", ""],
  ["hono", "/agent"],
  ["express", "/agent"],
  ["fastify", "/agent"],
]) {
  const file = new URL(`${name}.ts`, import.meta.url).pathname;
  const child = spawn(process.execPath, ["--conditions=@millrace/source", file], {
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [output] = (await once(child.stdout, "data")) as [Buffer];
    const port = /port: (\d+)/.exec(output.toString())?.[1];
    await converse(fetch, `http://127.0.0.1:${port}${path}`);
    console.log(`${name}: a session, a run and a stream`);
  } finally {
    child.kill("SIGKILL");
  }
}

process.env["BASE_PATH"] = "/api/agent";
const route = await import("./next.ts");
const byNext: typeof fetch = (input, init) => {
  const request = new Request(input, init);
  return (request.method === "POST" ? route.POST : route.GET)(request);
};
await converse(byNext, "http://localhost/api/agent");
console.log("next: a session, a run and a stream");
process.exit(0);

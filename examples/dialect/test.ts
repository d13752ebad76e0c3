// Serves the dialect on a socket: a prompt and its stream, a stream that is cut and resumed, and a stop.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { defineAgent } from "@millrace/agent";
import { say, scriptedModel, stall } from "@millrace/core/testing";
import { createMillrace } from "@millrace/server";
import { plain } from "./plain.ts";

const text = "Pack a raincoat, and good shoes 👟.";
const replies = [[say(text)], [say(text)], [say("Once upon"), stall()]];
const agent = defineAgent({ model: scriptedModel(replies, { delayMs: 5 }) });
const authenticate = () => ({ tenant: "web", user: "ann" });
const millrace = createMillrace({ agent, authenticate, dialects: [plain] });
const server = createServer(millrace.node).listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo; // listening on a port, it has one
const base = `http://127.0.0.1:${port}`;

const headers = { authorization: "Bearer ann", "content-type": "application/json" };

function send(chat: string, id: string): Promise<Response> {
  const body = JSON.stringify({ id, text: "Oslo?" });
  return fetch(`${base}/plain/${chat}`, { method: "POST", headers, body });
}

/** What a reader is left with, who leaves after so many events, and the id of its last one. */
async function read(answer: Response, events = Infinity): Promise<[string, string, string]> {
  assert.equal(answer.status, 200, answer.ok ? "" : await answer.text());
  let [shown, last, outcome, left, buffer] = ["", "0", "", events, ""];
  for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    buffer += piece;
    for (let end = buffer.indexOf("\n\n"); end >= 0 && left > 0; end = buffer.indexOf("\n\n")) {
      const lines = buffer.slice(0, end);
      buffer = buffer.slice(end + 2);
      const data = /^data: (.*)$/m.exec(lines)?.[1];
      if (data === undefined) continue; // a comment keeps the connection alive
      const fields = JSON.parse(data) as { text?: string; outcome?: string };
      shown += fields.text ?? "";
      outcome = fields.outcome ?? outcome;
      last = /^id: (\d+)$/m.exec(lines)?.[1] ?? last;
      left -= 1;
    }
    if (left === 0) break; // the connection is closed
  }
  return [shown, last, outcome];
}

try {
  const [shown, , outcome] = await read(await send("trip", "m-1"));
  assert.deepEqual([shown, outcome], [text, "completed"]);
  const [again] = await read(await send("trip", "m-1"));
  assert.equal(again, text, "the same message, sent twice, is one run");

  let [sofar, last] = await read(await send("trip", "m-2"), 1);
  let cuts = 0;
  for (let end = ""; end === ""; cuts += 1) {
    const resumed = { headers: { ...headers, "last-event-id": last } };
    const [more, id, ended] = await read(await fetch(`${base}/plain/trip/run`, resumed), 1);
    [sofar, end] = [sofar + more, ended];
    if (more !== "") last = id;
  }
  assert.equal(sofar, text, "cut after each event, it is whole");

  const long = await send("story", "m-1");
  const key = { "idempotency-key": `key-${crypto.randomUUID()}` };
  const abort = `${base}/v1/sessions/story/abort`;
  const stopped = await fetch(abort, {
    method: "POST",
    headers: { ...headers, ...key },
    body: "{}",
  });
  assert.ok(stopped.ok, await stopped.text());
  assert.equal((await read(long))[2], "aborted");

  const refused = await fetch(`${base}/plain/other/run`, { headers });
  assert.equal(refused.status, 404);
  console.log(`a stream, ${cuts} cuts without a lost character, and a stop`);
} finally {
  server.closeAllConnections();
  server.close();
  await millrace.close({ drainMs: 0 });
}

/** A node that serves viewers by server-sent events, and takes the commands of people. */
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createInbox } from "@millrace/core";
import type { Inbox } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import { systemClock } from "@millrace/core/memory";
import { decodeCursor, parseJsonText } from "@millrace/core/wire";
import { createHub, sseSink } from "@millrace/server";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import type { WebConfig } from "./deployment.ts";
import type { Answer, Command } from "./command.ts";
import { reportReady, reportStrayErrors } from "./reports.ts";

// The test that starts it wrote it.
const config = parseJsonText(process.argv[2] ?? "") as WebConfig;
reportStrayErrors();
const store = postgresStore({ url: config.postgres });
const log = redisLog({ url: config.redis });
const hub = createHub({ store, log, clock: systemClock });
const inboxes = new Map<string, Inbox>();

function inboxOf(uid: string): Inbox {
  const inbox = inboxes.get(uid) ?? createInbox({ store, log, uid });
  inboxes.set(uid, inbox);
  return inbox;
}

async function deliver({ uid, sessionId }: SessionRecord, id: string, response: ServerResponse) {
  const cursor = decodeCursor(id);
  await hub.deliver({ uid, sessionId, cursor }, sseSink(response));
}

async function take(inbox: Inbox, command: Command): Promise<Answer> {
  const { call, key, text = "", target = "" } = command;
  const posted = {
    send: () => inbox.send(text, { key }),
    steer: () => inbox.steer(text, { key }),
    followUp: () => inbox.followUp(text, { key }),
    takeBack: () => inbox.takeBack(target),
    allow: () => inbox.allow(target),
    deny: () => inbox.deny(target),
    abort: () => inbox.abort({ key }),
  };
  const answer = await posted[call]();
  if (!answer.accepted) return { accepted: false, reason: answer.reason };
  return { accepted: true, replayed: answer.replayed };
}

async function bodyOf(request: IncomingMessage): Promise<Command> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Command;
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const record = await store.find((request.url ?? "").slice(1));
  if (record === undefined) {
    response.writeHead(404).end();
    return;
  }
  if (request.method === "GET") {
    await deliver(record, String(request.headers["last-event-id"] ?? ""), response);
    return;
  }
  const answer = await take(inboxOf(record.uid), await bodyOf(request));
  const failed = !answer.accepted && answer.reason === "failed";
  response.writeHead(failed ? 503 : 200).end(JSON.stringify(answer));
}

const server = createServer((request, response) => {
  handle(request, response).catch((error: unknown) => {
    if (response.headersSent) response.destroy();
    else response.writeHead(503).end(String(error));
  });
});
server.listen(config.port, "127.0.0.1", () => reportReady());

import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createInbox } from "@millrace/core";
import type { Inbox } from "@millrace/core";
import type { DueSession, SessionRecord } from "@millrace/core/ports";
import { systemClock } from "@millrace/core/memory";
import { decodeCursor } from "@millrace/core/wire";
import { createHub, sseSink } from "@millrace/server/hub";
import type { PostgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import type { WebConfig } from "./deployment.ts";
import type { Answer, Command } from "./command.ts";
import { reportReady } from "./reports.ts";

/** Told of each command that was stored, with the number of its fact. */
export type Wake = (session: Pick<DueSession, "uid" | "sessionId" | "head">) => void;

/** Serves viewers by server-sent events, and takes the commands of people. */
export function serveWeb(config: WebConfig, store: PostgresStore, wake: Wake): void {
  const log = redisLog({ url: config.redis });
  const hub = createHub({ store, log, clock: systemClock, heartbeatMs: 5_000 });
  const inboxes = new Map<string, Inbox>();

  const inboxOf = (uid: string): Inbox => {
    const inbox = inboxes.get(uid) ?? createInbox({ store, log, uid });
    inboxes.set(uid, inbox);
    return inbox;
  };

  const deliver = async (
    { uid, sessionId }: SessionRecord,
    id: string,
    response: ServerResponse,
  ): Promise<void> => {
    const cursor = decodeCursor(id);
    await hub.deliver({ uid, sessionId, cursor }, sseSink(response));
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const record = await store.find((request.url ?? "").slice(1));
    if (record === undefined) {
      response.writeHead(404).end();
      return;
    }
    if (request.method === "GET") {
      await deliver(record, String(request.headers["last-event-id"] ?? ""), response);
      return;
    }
    const { uid, sessionId } = record;
    const taken = await take(inboxOf(uid), await bodyOf(request));
    if (taken.accepted)
      wake({ uid, sessionId, head: "n" in taken ? taken.n : await store.head(uid) });
    const answer: Answer = taken.accepted
      ? { accepted: true, replayed: taken.replayed }
      : { accepted: false, reason: taken.reason };
    const failed = !answer.accepted && answer.reason === "failed";
    response.writeHead(failed ? 503 : 200).end(JSON.stringify(answer));
  };

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(503).end(String(error));
    });
  });
  server.listen(config.port, "127.0.0.1", () => reportReady());
}

async function take(inbox: Inbox, command: Command) {
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
  return await posted[call]();
}

async function bodyOf(request: IncomingMessage): Promise<Command> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Command;
}

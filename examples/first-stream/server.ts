import { createServer } from "node:http";
import type { Server, ServerResponse } from "node:http";
import { follow } from "@millrace/core/reading";
import { decodeCursor, encodeCursor, encodeMessage, encodeSse } from "@millrace/core/wire";
import type { EventLog, SessionStore } from "@millrace/core/ports";
import type { Followed } from "@millrace/core/reading";
import { systemClock } from "@millrace/core/memory";

/** `GET /sessions/<id>/events`: a session from the reader's cursor on, as server-sent events. */
export function createEventServer(store: SessionStore, log: EventLog): Server {
  return createServer((request, response) => {
    const name = /^\/sessions\/([\w-]+)\/events$/.exec(request.url ?? "")?.[1];
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const cursor = decodeCursor(String(request.headers["last-event-id"] ?? ""));
    serve(store, log, { name, cursor, signal: gone.signal }, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
}

async function serve(
  store: SessionStore,
  log: EventLog,
  reader: { name: string | undefined; cursor: Followed["cursor"] | undefined; signal: AbortSignal },
  response: ServerResponse,
): Promise<void> {
  const session = reader.name === undefined ? undefined : await store.find(reader.name);
  if (session === undefined) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
  });
  const { cursor, signal } = reader;
  for await (const followed of follow({
    store,
    log,
    clock: systemClock,
    ...session,
    cursor,
    signal,
  })) {
    const id = encodeCursor(followed.cursor);
    response.write(encodeSse({ id, data: encodeMessage(followed.message) }));
  }
  response.end();
}

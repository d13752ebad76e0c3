import type { Clock } from "@millrace/core/ports";
import { sseSink } from "../sse/sse-sink.ts";
import type { EventResponse } from "../sse/sse-sink.ts";
import type { LostPeers, Peer } from "./lost-peers.ts";
import type { RestDropper } from "./drop-rest.ts";
import { isClosed } from "./node.ts";
import type { Reply, ReplyStream } from "./reply.ts";

/** What both kinds of response have in common. */
interface Writable {
  statusCode: number;
  readonly headersSent: boolean;
  readonly setHeader: (name: string, value: string) => unknown;
  readonly getHeaderNames: () => string[];
  readonly removeHeader: (name: string) => unknown;
  readonly write: (piece: Uint8Array) => boolean;
  readonly end: () => unknown;
  readonly destroy: () => unknown;
  readonly on: (event: "drain" | "close", listener: () => void) => unknown;
  readonly off: (event: "drain" | "close", listener: () => void) => unknown;
}

/** What becomes of connections that take nothing. */
export interface Keeping {
  /** A connection that takes no byte for so long while bytes wait is closed. */
  readonly stallMs: number;
  readonly clock: Clock;
  /** Reads what is left of bodies that were refused. */
  readonly rests: RestDropper;
  readonly peers: LostPeers;
}

/** Writes a reply to a response of Node. Resolves when all is handed over. Rejects for a header that Node refuses. */
export async function writeReply(
  reply: Reply,
  response: EventResponse,
  keeping: Keeping,
): Promise<void> {
  const { status, headers, body, stream } = reply;
  const writable: Writable = response;
  if (isClosed(response) || response.headersSent) return stream?.ended();
  for (const [name, value] of Object.entries(headers)) {
    // HTTP/2 has no such header.
    if (name === "connection" && response.req.httpVersionMajor >= 2) continue;
    writable.setHeader(name, value);
  }
  if (stream !== undefined) return writeStream(stream, response, keeping);
  writable.statusCode = status;
  if (body === undefined) return void writable.end();
  if (body instanceof Uint8Array) {
    const isRefused = headers["connection"] === "close" && !response.req.complete;
    if (!isRefused || response.req.httpVersionMajor >= 2) return void response.end(body);
    writable.write(body);
    await keeping.rests.drop(response.req);
    return void writable.end();
  }
  await writePieces(body, response);
}

async function writeStream(
  stream: ReplyStream,
  response: EventResponse,
  keeping: Keeping,
): Promise<void> {
  const writable: Writable = response;
  const peer = peerOf(response);
  const unwatch = peer && keeping.peers.watch(peer);
  try {
    writable.removeHeader("cache-control"); // the sink sets that of streams
    await stream.start(sseSink(response, keeping));
  } catch (error) {
    if (writable.headersSent) return void writable.destroy();
    const reply = await stream.failed(error);
    for (const name of writable.getHeaderNames()) writable.removeHeader(name);
    await writeReply(reply, response, keeping);
  } finally {
    unwatch?.();
    stream.ended();
  }
}

/** The connection of a response: its socket, or all of the HTTP/2 session on one. */
function peerOf(response: EventResponse): Peer | undefined {
  if (!("stream" in response)) return response.socket ?? undefined;
  const { session } = response.stream;
  if (session === undefined) return undefined;
  const { localPort, remoteAddress, remotePort } = session.socket;
  return { localPort, remoteAddress, remotePort, destroy: () => session.destroy() };
}

/** Writes at the pace of the connection. A body that fails half way is cut off, never ended as if whole. */
async function writePieces(
  body: AsyncIterable<Uint8Array>,
  response: EventResponse,
): Promise<void> {
  const writable: Writable = response;
  try {
    for await (const piece of body) {
      if (isClosed(response)) return;
      if (!writable.write(piece)) await drained(writable);
    }
    writable.end();
  } catch {
    writable.destroy();
  }
}

function drained(writable: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      writable.off("drain", done);
      writable.off("close", done);
      resolve();
    };
    writable.on("drain", done);
    writable.on("close", done);
  });
}

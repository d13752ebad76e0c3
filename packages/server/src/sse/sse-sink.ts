import { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { MillraceError } from "@millrace/core";
import { checkOption, expects } from "@millrace/core/checks";
import type { Frame } from "./frame.ts";
import type { Sink, SinkEvents } from "./sink.ts";

/** No cache on the way may keep the events, and no proxy may buffer them. */
const headers = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
} as const;

/**
 * A response of `node:http` as a sink. Status and headers go out when it is opened, unless they have
 * gone already; headers that were set before are kept. Frames are written straight to the socket
 * where that equals `response.write`: with chunked HTTP/1.1, and without a middleware that changes
 * them. An event then costs about 0.7 times the processor time.
 */
export function sseSink(response: ServerResponse): Sink {
  const door = { name: "sseSink", from: sseSink };
  const fix = "pass the response of node:http, as its request listener gets it";
  checkOption(door, "the response", response, expects.having(["writeHead", "write", "end"], fix));
  return new SseSink(response);
}

/** Responses with a session. A second session would be written in between the frames of the first. */
const taken = new WeakSet<ServerResponse>();

class SseSink implements Sink {
  readonly #response: ServerResponse;
  #socket: Socket | undefined;
  #events: SinkEvents | undefined;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** Throws `invalid_definition` if the response has a session already. */
  bind(events: SinkEvents): void {
    if (taken.has(this.#response)) {
      const fix = "answer each request with its own response, and deliver to it once";
      const message = `hub.deliver: the response has a session already: ${fix}`;
      // Without a stack: a capture at each delivery would cost every viewer.
      const stack = `MillraceError: ${message}`;
      throw Object.assign(new MillraceError("invalid_definition", message), { stack });
    }
    taken.add(this.#response);
    this.#events = events;
    const gone = (): void => events.gone();
    if (this.#response.closed) queueMicrotask(gone);
    else this.#response.on("close", gone);
  }

  open(): void {
    const response = this.#response;
    if (!response.headersSent) response.writeHead(200, headers);
    response.flushHeaders();
    this.#socket = rawSocket(response);
  }

  write(frame: Frame): boolean {
    const response = this.#response;
    // The application has ended it. A frame after its end would be read as the next response.
    if (response.writableEnded) return false;
    const socket = this.#socket;
    const room = socket === undefined ? response.write(frame.plain) : socket.write(frame.chunked);
    if (!room) (socket ?? response).once("drain", () => this.#events?.drained());
    return room;
  }

  end(): void {
    this.#response.end();
  }
}

/** The socket, if writing a chunk to it does what `response.write` would do. */
function rawSocket(response: ServerResponse): Socket | undefined {
  const { socket, chunkedEncoding, req } = response;
  const isPlain =
    chunkedEncoding &&
    req.method !== "HEAD" &&
    // A compressing middleware replaces the method.
    response.write === ServerResponse.prototype.write &&
    // Headers that could not be sent yet, as behind another response, must go first.
    response.writableLength === (socket?.writableLength ?? 0);
  return isPlain && socket !== null ? socket : undefined;
}

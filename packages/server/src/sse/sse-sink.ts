import { ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import type { Socket } from "node:net";
import { MillraceError } from "@millrace/core";
import { checkOption, expects } from "@millrace/core/checks";
import type { Sink, SinkEvents } from "../hub/options.ts";
import { eventStreamHeaders } from "./headers.ts";

/** A response of `node:http`, or that of `node:http2` with the same interface. */
export type EventResponse = ServerResponse | Http2ServerResponse;

/** How a response is written to. */
export interface SseSinkOptions {
  /** A connection that takes no byte for so long while bytes wait is closed, at the earliest after half of it. 60 s if left out. */
  readonly stallMs?: number | undefined;
}

/**
 * A response of `node:http` or `node:http2` as a sink. Status and headers go out when it is opened, unless
 * they have gone already; headers that were set before are kept. Bytes are written straight to the socket
 * where that equals `response.write`: with chunked HTTP/1.1, and without a middleware that changes
 * them. An event then costs about 0.7 times the processor time.
 */
export function sseSink(response: EventResponse, options: SseSinkOptions = {}): Sink {
  const door = { name: "sseSink", from: sseSink };
  const fix = "pass the response of node:http, as its request listener gets it";
  checkOption(door, "the response", response, expects.having(["writeHead", "write", "end"], fix));
  return new SseSink(response, options.stallMs ?? 60_000);
}

/** Responses with a session. A second session would be written in between the events of the first. */
const taken = new WeakMap<object, SinkEvents>();

/**
 * The reader has gone, or the application has ended the response: bytes after its end would be read as the
 * next response. One function for all responses: a closure for each would cost every viewer.
 */
function onClose(this: unknown): void {
  taken.get(this as object)?.gone(); // an emitter calls its listeners as its methods
}

/** What both kinds of response have in common. */
interface Answer {
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly writeHead: (status: number, headers: typeof eventStreamHeaders) => unknown;
  readonly write: (bytes: Uint8Array) => boolean;
  readonly end: () => unknown;
  readonly on: (event: "close", listener: () => void) => unknown;
  readonly once: (event: "drain" | "finish", listener: () => void) => unknown;
}

/** What carries a response and can be given up: a socket, or one stream of HTTP/2. */
interface Carrier {
  readonly setTimeout: (ms: number, onTimeout?: () => void) => unknown;
  readonly destroy: () => unknown;
}

class SseSink implements Sink {
  readonly #response: EventResponse;
  readonly #stallMs: number;
  #socket: Socket | undefined;
  #events: SinkEvents | undefined;
  /** Ends the watch over a carrier that has bytes under way. */
  #unguard: (() => void) | undefined;

  constructor(response: EventResponse, stallMs: number) {
    this.#response = response;
    this.#stallMs = stallMs;
  }

  /** No field: a process has thousands of these. */
  get #answer(): Answer {
    return this.#response;
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
    taken.set(this.#response, events);
    this.#events = events;
    if (isClosed(this.#response)) queueMicrotask(() => events.gone());
    else this.#answer.on("close", onClose);
  }

  open(): void {
    if (!this.#answer.headersSent) this.#answer.writeHead(200, eventStreamHeaders);
    if (!(this.#response instanceof ServerResponse)) return;
    this.#response.flushHeaders();
    this.#socket = rawSocket(this.#response);
    // Emitted in `end`, by any caller. To ask the response at each write costs a tenth of the write.
    if (this.#socket !== undefined) this.#response.on("prefinish", onClose);
  }

  write(bytes: Uint8Array): boolean {
    const socket = this.#socket;
    if (socket === undefined) return this.#writeToAnswer(bytes);
    const room = socket.write(chunkOf(bytes));
    if (!room) this.#awaitDrain(socket);
    return room;
  }

  #writeToAnswer(bytes: Uint8Array): boolean {
    const answer = this.#answer;
    if (answer.writableEnded) return false; // by the application
    const room = answer.write(bytes);
    if (!room) this.#awaitDrain(answer);
    return room;
  }

  #awaitDrain(full: Pick<Answer, "once">): void {
    this.#guard();
    full.once("drain", () => this.#drained());
  }

  end(last?: Uint8Array): void {
    const answer = this.#answer;
    if (answer.writableEnded) return;
    if (last !== undefined && this.#socket !== undefined) this.#socket.write(chunkOf(last));
    else if (last !== undefined) answer.write(last);
    // A reader that takes nothing more would hold the connection and what waits in it.
    this.#guard();
    answer.once("finish", () => this.#unguard?.());
    answer.end();
  }

  #drained(): void {
    this.#unguard?.();
    this.#events?.drained();
  }

  /**
   * The carrier's own timer, which costs nothing while nothing waits. It finds out whether there was progress
   * by what it saw at its end before: half of the time each, so that the second end is in time.
   */
  #guard(): void {
    const carrier = carrierOf(this.#response);
    if (carrier === undefined || this.#unguard !== undefined) return;
    const close = (): void => void carrier.destroy();
    const before =
      "timeout" in carrier && typeof carrier.timeout === "number" ? carrier.timeout : 0;
    carrier.setTimeout(this.#stallMs / 2, close);
    this.#unguard = () => {
      this.#unguard = undefined;
      carrier.setTimeout(0, close); // takes the listener away
      if (before > 0) carrier.setTimeout(before);
    };
  }
}

function carrierOf(response: EventResponse): Carrier | undefined {
  if (response instanceof ServerResponse) return response.socket ?? undefined;
  return response.stream;
}

function isClosed(response: EventResponse): boolean {
  return response instanceof ServerResponse ? response.closed : response.stream.destroyed;
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

/**
 * Bytes as one chunk of HTTP/1.1: their length, they, and their end, in one piece, so that a socket takes
 * them by one write. Made once for all connections that are written the same bytes.
 */
function chunkOf(bytes: Uint8Array): Uint8Array {
  if (last.bytes === bytes) return last.chunk;
  const chunk = chunks.get(bytes)?.deref() ?? makeChunk(bytes);
  last = { bytes, chunk };
  return chunk;
}

/** What is shorter is made again for less than it costs to remember it. */
const rememberFrom = 1_024;

/** Weak: chunks that are no longer being sent go with the next garbage collection. */
const chunks = new WeakMap<Uint8Array, WeakRef<Uint8Array>>();
const nothing = new Uint8Array();
/** Most connections are written what the one before was. */
let last: { readonly bytes: Uint8Array; readonly chunk: Uint8Array } = {
  bytes: nothing,
  chunk: nothing,
};

function makeChunk(bytes: Uint8Array): Uint8Array {
  const size = `${bytes.length.toString(16)}\r\n`;
  const chunk = Buffer.allocUnsafe(size.length + bytes.length + 2);
  chunk.write(size, 0, "latin1");
  chunk.set(bytes, size.length);
  chunk.write("\r\n", chunk.length - 2, "latin1");
  if (bytes.length >= rememberFrom) chunks.set(bytes, new WeakRef<Uint8Array>(chunk));
  return chunk;
}

import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { cutBytes } from "./cuts.ts";
import type { HttpReply, Pacing, RawReply, VendorReply } from "./vendor-reply.ts";
import { wait } from "./wait.ts";

/** The progress of a reply. */
export interface Progress {
  /** Bytes of the body that were handed to the operating system. */
  sent: number;
  /**
   * True once this side has closed or sent everything. A later close is not an early one by the
   * client.
   */
  over: boolean;
}

/**
 * Sends one reply by its script. Returns when it is finished, or when the client has disconnected.
 */
export async function playReply(
  reply: VendorReply,
  response: ServerResponse,
  { progress, left }: { readonly progress: Progress; readonly left: AbortSignal },
): Promise<void> {
  const { socket } = response;
  if (socket === null) return;
  if (reply.raw === undefined) {
    await playHttp(reply, response, { progress, left, socket });
  } else {
    await playRaw(reply, socket, { progress, left });
  }
}

interface Play {
  readonly progress: Progress;
  readonly left: AbortSignal;
}

async function playHttp(
  reply: HttpReply,
  response: ServerResponse,
  { progress, left, socket }: Play & { readonly socket: Socket },
): Promise<void> {
  const body = bytesOf(reply.body);
  await wait(reply.headersDelayMs ?? 0, left);
  if (left.aborted) return;
  writeHead(reply, response, body.length);
  await sendPieces(body, reply, { progress, left, target: response });
  if (left.aborted || reply.end === "stay_open") return;
  progress.over = true;
  switch (reply.end) {
    case undefined:
    case "whole":
    case "fin":
      response.end();
      return;
    case "reset":
      socket.resetAndDestroy();
      return;
    case "half_chunk":
    case "short":
      socket.destroySoon();
      return;
    default:
      reply.end satisfies never;
  }
}

async function playRaw(reply: RawReply, socket: Socket, { progress, left }: Play): Promise<void> {
  await sendPieces(bytesOf(reply.raw), reply, { progress, left, target: socket });
  if (left.aborted || reply.end === "stay_open") return;
  progress.over = true;
  if (reply.end === "reset") socket.resetAndDestroy();
  else socket.destroySoon();
}

function writeHead(reply: HttpReply, response: ServerResponse, length: number): void {
  const status = reply.status ?? 200;
  // No date, so that the same request always gets the same bytes.
  response.sendDate = false;
  response.statusCode = status;
  response.setHeader("content-type", status < 400 ? "text/event-stream" : "application/json");
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value);
  if (reply.end === "fin") {
    response.useChunkedEncodingByDefault = false;
    response.removeHeader("content-length");
    response.setHeader("connection", "close");
  }
  if (reply.end === "short") {
    response.setHeader("content-length", length * (reply.repeat ?? 1) + 1);
  }
  response.flushHeaders();
}

async function sendPieces(
  bytes: Uint8Array,
  { chunks, delayMs = 0, repeat = 1 }: Pacing,
  { progress, left, target }: Play & { readonly target: ServerResponse | Socket },
): Promise<void> {
  const pieces = cutBytes(bytes, chunks);
  for (let round = 0; round < repeat; round += 1) {
    if (pieces.length === 0) return;
    for (const [index, piece] of pieces.entries()) {
      await wait(typeof delayMs === "number" ? delayMs : (delayMs[index] ?? 0), left);
      if (left.aborted) return;
      if (!(await written(target, piece, left))) return;
      progress.sent += piece.length;
    }
  }
}

/**
 * Resolves to true when the operating system has taken the bytes, false if the client disconnected.
 */
function written(
  target: ServerResponse | Socket,
  piece: Uint8Array,
  left: AbortSignal,
): Promise<boolean> {
  return new Promise((resolve) => {
    const gone = (): void => resolve(false);
    left.addEventListener("abort", gone, { once: true });
    target.write(piece, (error) => {
      left.removeEventListener("abort", gone);
      resolve(error === undefined || error === null);
    });
  });
}

function bytesOf(body: Uint8Array | string): Uint8Array {
  return typeof body === "string" ? new TextEncoder().encode(body) : body;
}

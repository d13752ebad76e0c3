import { failure } from "../failure.ts";
import type { Cause } from "@millrace/core";
import type { HeaderReader } from "../vendor-delay.ts";
import { networkFailure } from "./errors.ts";
import { loadUndici, routeTo } from "./network.ts";
import type { Network } from "./network.ts";

/** A small request for a small answer, such as a token. */
export interface Question {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Left out: it is a GET. */
  readonly body?: string | undefined;
  /** How long the whole answer may take. 30 s if left out. */
  readonly timeoutMs?: number | undefined;
}

/** What a server answered, whatever the status. */
export interface ServerAnswer {
  readonly status: number;
  readonly header: HeaderReader;
  readonly body: string;
}

/** Tokens have some KB. An answer that is longer is none. */
const mostBytes = 64 * 1024;

/**
 * Asks a server by the same network as models. Redirects are not followed. No cause has a part of the answer, which
 * may be a secret.
 */
export async function askServer(
  { url, headers = {}, body, timeoutMs = 30_000 }: Question,
  network?: Network,
): Promise<ServerAnswer | { readonly cause: Cause }> {
  const undici = await loadUndici();
  const route = routeTo(undici, url, network);
  if ("code" in route) return { cause: route };
  const secure = url.startsWith("https:");
  try {
    const answer = await undici.request(url, {
      dispatcher: route.dispatcher,
      method: body === undefined ? "GET" : "POST",
      headers: { ...headers },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await bounded(answer.body);
    if (text === undefined) {
      return { cause: failure("protocol", `the answer is longer than ${mostBytes} bytes`) };
    }
    const header: HeaderReader = (name) => answer.headers[name]?.toString();
    return { status: answer.statusCode, header, body: text };
  } catch (error) {
    if (error instanceof Error && error.name === "TimeoutError") {
      return { cause: failure("first_byte_timeout", `no whole answer within ${timeoutMs} ms`) };
    }
    return { cause: networkFailure(error, { reading: false, proxy: route.proxy, secure }) };
  }
}

/** The text of a body, or undefined for one that is too long. The connection is then closed. */
async function bounded(body: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    length += piece.length;
    if (length > mostBytes) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

import { failure } from "../failure.ts";
import type { Cause } from "@millrace/core";
import { networkFailure } from "./errors.ts";
import { loadUndici, routeTo } from "./network.ts";
import type { Network } from "./network.ts";

/** A small request for a small answer, such as a token. */
export interface Question {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Left out: it is a GET. */
  readonly body?: string | undefined;
}

/** What a server answered, whatever the status. */
export interface ServerAnswer {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  readonly body: string;
}

/** How long such an answer may take. */
const answerMs = 30_000;

/** Asks a server by the same network as models. Redirects are not followed. */
export async function askServer(
  { url, headers = {}, body }: Question,
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
      signal: AbortSignal.timeout(answerMs),
    });
    return {
      status: answer.statusCode,
      header: (name) => answer.headers[name]?.toString(),
      body: await answer.body.text(),
    };
  } catch (error) {
    if (error instanceof Error && error.name === "TimeoutError") {
      return { cause: failure("first_byte_timeout", `nothing came for ${answerMs} ms`) };
    }
    return { cause: networkFailure(error, { reading: false, proxy: route.proxy, secure }) };
  }
}

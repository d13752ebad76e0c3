import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { FetchLike, Transport } from "@modelcontextprotocol/client";

import { rememberHeaders, rememberUrl } from "@millrace/core/secrets";
import { isJsonObject, parseJsonText } from "@millrace/core/wire";

import { limitBody } from "./limit-body.ts";
import { within } from "../process/within.ts";

export interface HttpServerOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch | undefined;
  /** Bytes of one answer or event. */
  readonly limitBytes: number;
}

/** How long an answer may take whose connection broke: the client resumes where a server can. */
const resumeMs = 4_000;
/** How long a server may take to take leave. */
const leaveMs = 1_000;

/** A server that is reached over HTTP. */
export interface HttpServer {
  readonly transport: Transport;
  /** Tells the server that the session is over. Never rejects, and takes at most a second. */
  readonly leave: () => Promise<void>;
}

/**
 * The official client's transport, with two promises that it doesn't make: what the server sends is
 * bounded, and a request whose connection ends without an answer is answered as failed, not left
 * waiting. Redirects to another origin are refused by the client, so headers stay where they belong.
 */
export function openHttpServer(options: HttpServerOptions): HttpServer {
  const { url, headers, limitBytes } = options;
  rememberUrl(url.href);
  rememberHeaders(url.href, headers);
  const unanswered = new Map<number, NodeJS.Timeout | undefined>();
  const base = options.fetch ?? globalThis.fetch;

  const guarded: FetchLike = async (target, init) => {
    const response = await base(target, init);
    const id = init?.method === "POST" ? requestId(init.body) : undefined;
    if (id === undefined) return limitBody(response, limitBytes);
    unanswered.set(id, undefined);
    return limitBody(response, limitBytes, () => {
      if (!unanswered.has(id)) return;
      const timer = setTimeout(() => answerAsFailed(id), resumeMs);
      unanswered.set(id, timer);
    });
  };

  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers: { ...headers } },
    fetch: guarded,
    reconnectionOptions: {
      initialReconnectionDelay: 250,
      maxReconnectionDelay: 1_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 3,
    },
  });
  const settle = (id: unknown): void => {
    if (typeof id !== "number") return;
    clearTimeout(unanswered.get(id));
    unanswered.delete(id);
  };
  const answerAsFailed = (id: number): void => {
    settle(id);
    const error = { code: -32_000, message: "the connection ended before the answer" };
    transport.onmessage?.({ jsonrpc: "2.0", id, error });
  };
  // The client keeps what stands here when it takes the transport, and calls it first.
  const own: Pick<Transport, "onmessage" | "onclose"> = {
    onmessage: (message) => {
      if (!("method" in message)) settle(message.id);
    },
    onclose: () => {
      for (const id of unanswered.keys()) settle(id);
    },
  };
  Object.assign(transport, own);
  const leave = async (): Promise<void> => {
    const left = transport.terminateSession().catch(() => undefined);
    await within(leaveMs, left);
  };
  return { transport, leave };
}

/** The id of the request that we are sending, if it is one and not a notification. */
function requestId(body: unknown): number | undefined {
  if (typeof body !== "string") return undefined;
  const value = parseJsonText(body);
  if (!isJsonObject(value) || !("method" in value)) return undefined;
  const id = value["id"];
  return typeof id === "number" ? id : undefined;
}

import * as http from "node:http";
import * as http2 from "node:http2";
import type { Readable } from "node:stream";

/** A request as it goes out: nothing is added, decoded or normalised. */
export interface Outgoing {
  readonly method: string;
  /** The path and query to the letter. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** An answer whose head is there; its body comes as it is read. */
export interface Incoming {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

/** Carries requests to one server. */
export interface Exchange extends Disposable {
  readonly send: (request: Outgoing) => Promise<Incoming>;
}

/** Opens connections by the protocol; the global `fetch` would normalise paths and can't set `Host`. */
export function openExchange(url: string, protocol: "http/1.1" | "h2"): Exchange {
  return protocol === "h2" ? exchangeByHttp2(url) : exchangeByHttp1(url);
}

function exchangeByHttp1(url: string): Exchange {
  const { hostname, port } = new URL(url);
  const agent = new http.Agent({ keepAlive: true, maxSockets: Infinity });
  const send: Exchange["send"] = (outgoing) =>
    new Promise((resolve, reject) => {
      const { method, path, headers, body, signal } = outgoing;
      const fields = lowered(headers);
      const request = http.request({
        agent,
        hostname,
        port,
        method,
        path,
        signal,
        headers: fields,
      });
      request.once("error", (error: NodeJS.ErrnoException) => {
        // The server may close an idle connection at the moment of its next use: nothing was read then.
        if (request.reusedSocket && error.code === "ECONNRESET") resolve(send(outgoing));
        else reject(error);
      });
      request.once("response", (response) => {
        response.on("error", () => response.destroy());
        const { statusCode: status = 0 } = response;
        resolve({ status, headers: joined(response.headers), body: response });
      });
      request.end(body);
    });
  return { send, [Symbol.dispose]: () => agent.destroy() };
}

function exchangeByHttp2(url: string): Exchange {
  const { origin, host } = new URL(url);
  // Bodies of many cases are under way at once.
  const session = http2.connect(origin, { maxSessionMemory: 1_000 });
  session.on("error", () => session.destroy());
  return {
    send: ({ method, path, headers, body, signal }) =>
      new Promise((resolve, reject) => {
        const { host: authority = host, ...others } = lowered(headers);
        const stream = session.request(
          { ...others, ":method": method, ":path": path, ":authority": authority },
          signal === undefined ? {} : { signal },
        );
        stream.once("error", reject);
        stream.once("response", (head) => {
          stream.on("error", () => stream.destroy());
          resolve({ status: Number(head[":status"]), headers: joined(head), body: stream });
        });
        stream.end(body);
      }),
    [Symbol.dispose]: () => session.destroy(),
  };
}

function lowered(headers: Outgoing["headers"]): Record<string, string | string[]> {
  const entries = Object.entries(headers).map(([name, value]) => [
    name.toLowerCase(),
    typeof value === "string" ? value : [...value],
  ]);
  return Object.fromEntries(entries) as Record<string, string | string[]>;
}

function joined(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const entries = Object.entries(headers).filter(([name]) => !name.startsWith(":"));
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.join(", ") : String(value),
    ]),
  );
}

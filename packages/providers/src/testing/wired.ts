import { startFaultProxy } from "../serve/fault-proxy.ts";
import type { FaultProxy, FaultProxyOptions } from "../serve/fault-proxy.ts";
import { connectTcp, startTcpPeer } from "./tcp-peer.ts";
import type { TcpEnd, TcpPeer } from "./tcp-peer.ts";

const opened: { [Symbol.asyncDispose]: () => PromiseLike<void> }[] = [];

/** Closes what the test has opened. For `afterEach`. */
export async function closeOpened(): Promise<void> {
  for (const resource of opened.splice(0).toReversed()) await resource[Symbol.asyncDispose]();
}

export interface Wired {
  readonly peer: TcpPeer;
  readonly proxy: FaultProxy;
  readonly client: TcpEnd;
  readonly server: TcpEnd;
}

/** A client and a server, connected through a proxy. */
export async function wire(options: Omit<FaultProxyOptions, "target"> = {}): Promise<Wired> {
  const { peer, proxy } = await openProxy(options);
  const client = await openClient(proxy);
  return { peer, proxy, client, server: await peer.end() };
}

export async function openProxy(
  options: Omit<FaultProxyOptions, "target"> = {},
): Promise<Pick<Wired, "peer" | "proxy">> {
  const peer = await startTcpPeer();
  opened.push(peer);
  const proxy = await startFaultProxy({ target: peer, ...options });
  opened.push(proxy);
  return { peer, proxy };
}

export async function openClient(proxy: FaultProxy, options = {}): Promise<TcpEnd> {
  const client = await connectTcp(proxy.port, options);
  opened.push({ [Symbol.asyncDispose]: async () => client[Symbol.dispose]() });
  return client;
}

/** Bytes whose values show their positions. */
export function numbered(length: number): Buffer {
  return Buffer.from(Uint8Array.from({ length }, (_, index) => (index * 7 + (index >> 8)) & 0xff));
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Asks a server through its network, once over each version of HTTP, and prints what would keep this process alive
 * after that. The servers stay open in the process that started this one, so idle connections stay too.
 */
import { until } from "../../../../tests/kit/until.ts";
import type { Network } from "../transport/network.ts";
import { openResources } from "./resources.ts";
import { ask, toyModel } from "./toy-model.ts";

const { url, network } = JSON.parse(process.argv[2] ?? "") as { url: string; network: Network };
const stops: string[] = [];
for (const http2 of [false, true]) {
  for (const proxy of [network.proxy, false] as const) {
    const model = toyModel(url, { network: { ...network, http2, proxy } });
    stops.push((await ask(model)).reply.stop);
  }
}
// The end of the last body may come a moment after the reply.
const sockets = (): readonly string[] => openResources().filter((kind) => /TCP|TLS/.test(kind));
const isIdle = until(() => sockets().length === 0, "no socket", { limitMs: 1_500 });
await isIdle.catch(() => undefined);
console.log(JSON.stringify({ stops, left: sockets() }));

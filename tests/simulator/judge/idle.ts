/** What processes still hold once everybody has left, some time after. */
import type { Engines } from "../scene/engines.ts";
import type { Nodes } from "../scene/nodes.ts";
import { webHosts, workerHosts } from "../scene/plan.ts";
import type { HttpNetwork } from "../world/http-network.ts";
import type { Report } from "./report.ts";

export interface IdleOptions {
  readonly engines: Pick<Engines, "links">;
  readonly nodes: Pick<Nodes, "process">;
  readonly networks: readonly Pick<HttpNetwork, "open">[];
}

/** A worker looks at the index again and again. A web node that nobody uses waits for nothing. */
const timersOf = (host: string): number => (host.startsWith("worker") ? 1 : 0);

/** What is held beyond what a process holds that has just begun. */
export function heldIn({ engines, nodes, networks }: IdleOptions): readonly string[] {
  const held: string[] = [];
  for (const host of [...webHosts, ...workerHosts]) {
    const { timers } = nodes.process(host);
    const subscriptions = engines.links(host).subscriptions.size;
    if (timers > timersOf(host)) held.push(`${host} has ${timers} timers`);
    if (subscriptions > 0) held.push(`${host} has ${subscriptions} subscriptions`);
  }
  const open = networks.reduce((sum, network) => sum + network.open.size, 0);
  return open === 0 ? held : [...held, `${open} connections are open`];
}

export function judgeIdle(options: IdleOptions, report: Pick<Report, "add">): void {
  for (const what of heldIn(options)) report.add("idle", what);
}

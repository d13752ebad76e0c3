import { bundleNodes } from "../../kit/deployment/bundle.ts";
import type { NodePrograms } from "../../kit/deployment/bundle.ts";
import { bundleTemporalNodes } from "../../kit/deployment/bundle-temporal.ts";

const here = (file: string): URL => new URL(file, import.meta.url);

/** The programs of histories. */
export function bundleChaosNodes(): Promise<NodePrograms> {
  return bundleNodes(here("worker-node.ts"), here("web-node.ts"));
}

/** The same where Temporal drives. */
export function bundleTemporalChaosNodes(): Promise<NodePrograms> {
  return bundleTemporalNodes({
    worker: here("temporal-worker-node.ts"),
    web: here("temporal-web-node.ts"),
  });
}

import type { TenantStore } from "@millrace/agent/worker";
import { sweepBlobs } from "@millrace/core/blobs";
import type { BlobStore, Clock } from "@millrace/core/ports";

/** What is swept, and for how long. */
export interface SweepOptions {
  readonly blobs: BlobStore;
  readonly store: TenantStore;
  readonly clock: Clock;
  readonly random: () => number;
  /** Aborted when there are to be no more sweeps. */
  readonly signal: AbortSignal;
}

const hourMs = 60 * 60 * 1_000;

/**
 * Removes blobs that nothing names, at once and then every hour, so that servers that were started together
 * drift apart. Keeps no process alive. A sweep that fails is left to the next one.
 */
export async function keepSwept(options: SweepOptions): Promise<void> {
  const { blobs, store, clock, random, signal } = options;
  const wait = clock.idle ?? clock.sleep;
  while (!signal.aborted) {
    try {
      await sweepBlobs({
        blobs,
        storeOf: ({ tenant }) =>
          (tenant === undefined ? undefined : store.forTenant?.(tenant)) ?? store,
      });
    } catch {
      // The store or the blobs are away.
    }
    await wait(hourMs * (0.75 + random() / 2), signal);
  }
}

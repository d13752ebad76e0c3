import { hashAtOnce } from "../sessions/kit/hash.ts";
import { record } from "./record.ts";
import type { Recording } from "./record.ts";
import { vendorReplies } from "./replies.ts";

/** Records so many sessions. */
export async function recordAll(sessions: number): Promise<readonly Recording[]> {
  return recordSeeds(Array.from({ length: sessions }, (_, at) => at + 1));
}

/** Records the sessions of these seeds. Those of even ones begin with two replies of vendors, other ones each time. */
export async function recordSeeds(seeds: readonly number[]): Promise<readonly Recording[]> {
  const recordings: Recording[] = [];
  const undo = hashAtOnce();
  const vendors = vendorReplies();
  for (const seed of seeds) {
    const replies = seed % 2 === 0 ? vendors.slice(seed % (vendors.length - 1)).slice(0, 2) : [];
    recordings.push(await record({ seed, replies }));
  }
  undo();
  return recordings;
}

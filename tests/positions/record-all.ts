import { hashAtOnce } from "../sessions/kit/hash.ts";
import { record } from "./record.ts";
import type { Recording } from "./record.ts";
import { vendorReplies } from "./replies.ts";

/** Records so many sessions. Half of them begin with two replies of vendors, other ones each time. */
export async function recordAll(sessions: number): Promise<readonly Recording[]> {
  const recordings: Recording[] = [];
  const undo = hashAtOnce();
  const vendors = vendorReplies();
  for (let seed = 1; seed <= sessions; seed += 1) {
    const replies = seed % 2 === 0 ? vendors.slice(seed % (vendors.length - 1)).slice(0, 2) : [];
    recordings.push(await record({ seed, replies }));
  }
  undo();
  return recordings;
}

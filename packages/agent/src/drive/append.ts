import type { DriverRequest } from "@millrace/core/ports";
import { Fenced } from "../work/host.ts";
import type { WorkHost } from "../work/host.ts";

/** Stores facts under a claim. False if the head has moved: nothing was stored, decide again. */
export async function append(
  { store, uid, journal }: Pick<WorkHost, "store" | "uid" | "journal">,
  request: DriverRequest,
): Promise<boolean> {
  const answer = await store.append(uid, request);
  if (answer.outcome === "fenced") throw new Fenced();
  if (answer.outcome === "appended") journal.stored(answer.facts);
  else await journal.catchUp();
  return answer.outcome === "appended";
}

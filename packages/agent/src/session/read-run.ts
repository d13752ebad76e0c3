import type { Fact, SessionUid } from "@millrace/core";
import type { SessionStore } from "@millrace/core/ports";
import { runRecordsOf } from "../work/run-records.ts";
import type { RunRecords } from "../work/run-records.ts";
import type { Watched } from "./watch.ts";

/** Facts that are read at a time. */
const factsAtOnce = 256;

/**
 * Reads a run that this process has not seen, such as that of a prompt which is sent again under its key.
 * Reads backwards from the head to the fact that accepted its input, so it costs what was stored since.
 */
export async function readRun(
  store: Pick<SessionStore, "read" | "head">,
  uid: SessionUid,
  { inputId }: Watched,
): Promise<RunRecords | undefined> {
  const chunks: (readonly Fact[])[] = [];
  for (let before = (await store.head(uid)) + 1; before > 1;) {
    const facts = await store.read(uid, { before, limit: factsAtOnce });
    const at = facts.findIndex(
      (fact) => fact.type === "input_accepted" && fact.inputId === inputId,
    );
    chunks.push(at < 0 ? facts : facts.slice(at));
    if (at >= 0) return runRecordsOf(chunks.toReversed().flat());
    before = facts[0]?.n ?? 1;
  }
  return undefined;
}

import { runId as admitRunId } from "../ids.ts";
import type { InputId, RunId } from "../ids.ts";
import { checkedJson, takeBackKeyOf } from "./inbox-context.ts";
import type { Checked, InboxContext } from "./inbox-context.ts";
import { stopInputIdOf } from "./ids.ts";
import type { AbortOptions } from "./inbox.ts";
import { refuse } from "./posted.ts";
import type { Refused, Stopped } from "./posted.ts";

/** No run is on and no prompt waits, or not the one that was named. */
const nothingToStop: Stopped = { accepted: true, replayed: false };

/**
 * Takes back the prompt that would begin the run, else stops the run. A driver may take the prompt up
 * between the two: then it can't be taken back any more, and the run is on when the facts are read again.
 */
export async function stopRun(
  context: InboxContext,
  { runId: named, reason }: AbortOptions,
  { keyed, by }: Checked,
): Promise<Stopped | Refused> {
  const { poster, known } = context;
  const why = reason === undefined ? {} : { reason: checkedJson(reason, "a reason") };
  // A stop of a named run happens once by nature. One of the current run is recognised by its key
  // alone: repeated later, it must not stop another run.
  const key = named === undefined ? keyed : undefined;
  const asked = named === undefined ? undefined : admitRunId(named);
  await known.catchUp();
  const first = key && firstStop(context, key);
  if (first !== undefined) return first;
  const runId = asked ?? known.currentRun();
  if (runId === undefined) return await nothing(context, key);

  const waiting = known.waitingFor(runId);
  if (waiting !== undefined) {
    const change = { type: "queue_updated", inputId: waiting, change: "taken_back" } as const;
    const taken = await poster.post(key ?? takeBackKeyOf(waiting), { ...change, ...by });
    if (taken.accepted) return { accepted: true, runId, replayed: taken.replayed };
    if (taken.reason === "key_reused") return await repeated(context, key, runId);
    if (taken.reason !== "settled") return taken;
    await known.catchUp();
  }

  const { run } = known.state;
  if (run?.runId !== runId) return await nothing(context, key);
  if (run.aborting) return stopping(context, runId, true);
  const id = key ?? stopInputIdOf(known.since);
  const input = { kind: "abort", runId, ...why } as const;
  const posted = await poster.post(id, { type: "input_accepted", inputId: id, input, ...by });
  if (posted.accepted) return stopping(context, runId, posted.replayed);
  return posted.reason === "key_reused" ? await repeated(context, key, runId) : posted;
}

/** There is nothing to stop; but a stop under this key may be among the facts of the past. */
async function nothing(
  context: InboxContext,
  key: InputId | undefined,
): Promise<Stopped | Refused> {
  if (key === undefined) return nothingToStop;
  await context.known.readPast();
  return firstStop(context, key) ?? nothingToStop;
}

function stopping({ poster }: InboxContext, runId: RunId, replayed: boolean): Stopped {
  poster.nudgeToStop();
  return { accepted: true, runId, replayed };
}

/** The key of the fact is in use: another call has stored a stop at the same time, or long ago. */
async function repeated(
  context: InboxContext,
  key: InputId | undefined,
  runId: RunId,
): Promise<Stopped | Refused> {
  if (key === undefined) return stopping(context, runId, true); // with another reason
  await context.known.catchUp();
  await context.known.readPast();
  // No input has the key, so a prompt was taken back under it. No fact records which one.
  return firstStop(context, key) ?? { accepted: true, replayed: true };
}

/** The answer to an earlier stop under this key, if there was one. */
function firstStop({ known }: InboxContext, key: InputId): Stopped | Refused | undefined {
  const first = known.inputs.get(key);
  if (first === undefined) return undefined;
  if (first.kind !== "abort") {
    return refuse("key_reused", "the key was used for another input; a stop needs a new key");
  }
  const stopped = first.runId === undefined ? {} : { runId: first.runId };
  return { accepted: true, ...stopped, replayed: true };
}

import { packEpoch } from "@millrace/core/ports";
import { noUsage } from "@millrace/core/writing";
import { append } from "../drive/action-host.ts";
import type { RunStanding } from "../loop/state.ts";
import type { WorkHost } from "../work/host.ts";
import type { StepContext, StepRequest } from "./step.ts";

type Repeated = Pick<StepRequest, "work" | "calls" | "generation" | "attempt"> & {
  readonly incarnation: number;
};

/**
 * Stores that the attempt before this one was lost with its worker, while its work is still to be done. An
 * engine repeats a step without a new claim, so no other fact shows it, and a run that ends its workers
 * would be repeated without end. A step that its worker gave back, as in a deploy, is not lost.
 */
export async function reportLost(
  host: Pick<WorkHost, "store" | "uid" | "journal">,
  step: Repeated,
  { wasLost }: Pick<StepContext, "wasLost">,
): Promise<void> {
  const { journal } = host;
  const { incarnation, generation, attempt } = step;
  if (step.work === undefined || attempt < 2 || !isOpen(journal.standing.run, step)) return;
  if ((await wasLost?.()) !== true) return;
  for (;;) {
    const { run } = journal.standing;
    // Another driver may have the session now, and an attempt that was slow may have stored its work.
    if (journal.standing.incarnation !== incarnation || !isOpen(run, step)) return;
    const { runId, turn } = run;
    const ids = turn === undefined ? { runId } : { runId, turnId: turn.turnId };
    const epoch = packEpoch({ incarnation, generation, attempt: attempt - 1 });
    const report = { type: "usage_reported", ...ids, epoch, usage: noUsage, lost: true } as const;
    if (await append(host, { incarnation, head: journal.state.head, bodies: [report] })) return;
  }
}

/** Whether the work of a step is still to be done. */
function isOpen(run: RunStanding | undefined, { work, calls = [] }: Repeated): run is RunStanding {
  if (run === undefined) return false;
  if (work === "compact") return run.compacting;
  const { turn } = run;
  if (work !== "execute")
    return turn !== undefined && turn.stop === undefined && turn.reply === undefined;
  const started =
    turn?.reply?.calls.filter((call) => call.started !== undefined && !call.settled) ?? [];
  // Beside a call of another step the run can't be ended at once. What is lost counts once that has ended.
  return started.length > 0 && started.every(({ itemId }) => calls.includes(itemId));
}

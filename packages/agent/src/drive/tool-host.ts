import type { Epoch } from "@millrace/core/ports";
import type { FactBody } from "@millrace/core/writing";
import type { ToolHost } from "../definition/tool-host.ts";
import { outOf, overspent } from "../loop/limits.ts";
import type { LoopState } from "../loop/state.ts";
import type { WorkHost } from "../work/host.ts";

/** What a tool's host uses of the driver. */
export interface ToolDriver {
  readonly state: () => LoopState;
  /** True once the session was closed or taken over. */
  readonly left: () => boolean;
  /** Aborted when the session is closed in this process. */
  readonly closing: AbortSignal;
  readonly report: (bodies: readonly FactBody[]) => Promise<void>;
}

/** What a tool uses to run a sub-agent: the same ports, and its parent's budget. */
export function toolHostOf(host: WorkHost, epoch: Epoch, driver: ToolDriver): ToolHost {
  const { givenStore: store, log, blobs, clock, makeId } = host;
  const { depth, allowance, journal, ask } = host;
  const { run } = journal.standing;
  return {
    store,
    log,
    blobs,
    clock,
    makeId,
    depth: depth + 1,
    ask,
    left: driver.left,
    closing: driver.closing,
    allowance: {
      exhausted: () => exhausted(driver.state()),
      spend: async (usage) => {
        if (run === undefined) return;
        const { runId, turn } = run;
        const place = turn === undefined ? { runId } : { runId, turnId: turn.turnId };
        await driver.report([{ type: "usage_reported", ...place, epoch, usage }]);
        await allowance?.spend(usage);
      },
    },
  };
}

/** The limit that the run has reached, if any; for a sub-agent that spends its budget. Includes time. */
function exhausted(state: LoopState): string | undefined {
  const { run } = state.standing;
  if (run === undefined || run.aborting) return "parent";
  return outOf(state, run) ?? overspent(state, run);
}

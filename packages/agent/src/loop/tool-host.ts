import type { Epoch } from "@millrace/core";
import type { ToolHost } from "../tool/host.ts";
import type { Driver } from "./drive.ts";

/** What a tool needs to run an agent of its own: the same ports, and its parent's budget. */
export function toolHostOf(driver: Driver, epoch: Epoch): ToolHost {
  const { store, log, clock, makeId, depth, allowance, journal, ask } = driver.host;
  const { run } = journal.standing;
  return {
    store,
    log,
    clock,
    makeId,
    depth: depth + 1,
    ask,
    left: () => !driver.holds(epoch),
    allowance: {
      exhausted: () => driver.exhausted(),
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

import { setTimeout as sleep } from "node:timers/promises";

import { expect, test } from "vitest";

import { endTree } from "./end-tree.ts";
import type { ProcessRow } from "./lineage.ts";
import type { ProcessTree } from "./process-tree.ts";

const row: ProcessRow = { pid: 71, parent: 1, group: 70, session: 70, startedAt: 5 };

/** One process that is gone so long after `SIGKILL`, on a machine that stands still in the first scan for killing. */
function slowTree(standstillMs: number, dyingMs: number): Pick<ProcessTree, "scan" | "signal"> {
  let goneAt = Infinity;
  let scans = 0;
  return {
    scan: async () => {
      scans += 1;
      // The first two are those that stop it.
      if (scans === 3) await sleep(standstillMs);
      return performance.now() < goneAt ? [row] : [];
    },
    signal: (rows, signal) => {
      if (signal === "SIGKILL" && rows.length > 0 && goneAt === Infinity)
        goneAt = performance.now() + dyingMs;
    },
  };
}

test("a machine that stands still before it kills a process still gives it time to die", async () => {
  const tree = slowTree(2_200, 150);

  const ended = await endTree(tree as ProcessTree, { graceMs: 0 });

  expect(ended).toEqual({ ended: 1, survivors: [] });
});

test("a process that does not die is reported, and not waited for without end", async () => {
  const tree = slowTree(0, Infinity);
  const began = performance.now();

  const ended = await endTree(tree as ProcessTree, { graceMs: 0 });

  expect(ended).toEqual({ ended: 0, survivors: [71] });
  expect(performance.now() - began).toBeLessThan(5_000);
});

import { expect, it } from "vitest";
import { runs } from "../../../../tests/kit/runs.ts";
import { measure } from "../testing/program.ts";

interface Crowd {
  readonly connections: number;
  readonly stalled: number;
  /** Bytes of a connection, its socket included: in use, and resident. */
  readonly used: number;
  readonly resident: number;
  readonly open: number;
  readonly closed: number;
}

it("a connection costs at most 40 KB with its socket, in a crowd of which one in twenty does not read", async () => {
  const crowd = await measure<Crowd>("crowd-run.ts", String(runs(500, 10_000)));
  const { connections, stalled, used, resident, open, closed } = crowd;

  console.log(
    `count: ${connections} connections, ${stalled} of them stalled: ${(used / 1024).toFixed(1)} KB in use`,
    `and ${(resident / 1024).toFixed(1)} KB resident for each; ${open} open, ${closed} closed`,
  );
  expect(used).toBeLessThan(40 * 1024);
  // A small crowd is below what the process takes and gives back at will.
  if (connections >= 10_000) expect(resident).toBeLessThan(40 * 1024);
  expect([open, closed]).toEqual([connections, 0]);
}, 600_000);

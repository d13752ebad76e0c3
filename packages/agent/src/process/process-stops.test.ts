import process from "node:process";

import { expect, test } from "vitest";

import { hasPidNamespaces } from "./index.ts";
import { runAs, testUsers } from "./testing/as-user.ts";
import { living } from "./testing/living.ts";
import type { StopCount } from "./testing/stop-many.ts";
import { escapes, habits } from "./testing/unruly.ts";
import { runs } from "../../../../tests/kit/runs.ts";

/** Most by default settings, which are what is promised. */
const stopsOf = { default: runs(2_000, 20_000, 400), off: runs(150, 2_000) };
/** How long after its end or its abort a process and all that it started may live. */
const boundMs = 5_000;

test.for(
  testUsers.flatMap((user) => [
    { user, mode: "default" as const },
    { user, mode: "off" as const },
  ]),
)(
  "nobody that a process started outlives its outcome: user $user, namespace $mode",
  { timeout: stopsOf.default * 1_000 },
  async ({ user, mode }) => {
    // Where a machine has no namespaces, the escapes are what its warning is about.
    const confined = mode === "default" && (await hasPidNamespaces());
    const args = [String(stopsOf[mode]), confined ? "default" : "off"];

    const { printed } = await runAs(user, "stop-many.ts", args);

    const count = JSON.parse(printed) as StopCount;
    expect(count.faults, count.faults.join("\n")).toEqual([]);
    expect(count.longestMs).toBeLessThan(boundMs);
    const known = Object.keys(confined ? { ...habits, ...escapes } : habits);
    expect(Object.keys(count.habits).toSorted()).toEqual(known.toSorted());
    // Once more from outside: what is hidden from the other user is not hidden from root.
    expect(living(`60.${count.pid}0`).filter(({ zombie }) => !zombie)).toEqual([]);
    const { aborts, timeouts, exits, longestMs } = count;
    const who = user === "own" ? `uid ${process.getuid?.()}` : user;
    console.log(
      `count: P23 real stops, ${who}, namespace ${confined ? "by default" : "off"}, ${aborts} aborts, ${timeouts} timeouts, ${exits} exits, ${longestMs} ms at most, 0 survivors`,
    );
  },
);

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { runs } from "../../../tests/kit/runs.ts";

const program = fileURLToPath(new URL("testing/abort-run.ts", import.meta.url));

interface Left {
  readonly outcomes: Readonly<Record<string, number>>;
  readonly unfinished: number;
  readonly after: readonly string[];
  readonly rejections: readonly string[];
}

test("requests that are aborted at random moments leave no socket, no timer and no rejection", async () => {
  const aborts = runs(2_000, 40_000);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--conditions=@millrace/source", program, String(aborts), "7"],
    { timeout: 300_000 },
  );
  const left = JSON.parse(stdout) as Left;
  expect(left.rejections).toEqual([]);
  expect(left.unfinished).toBe(0);
  expect(left.after).toEqual([]);
  // Both outcomes of the race occurred, and no other.
  expect(Object.keys(left.outcomes).toSorted()).toEqual(["aborted", "end"]);
  expect(left.outcomes["aborted"]).toBeGreaterThan(aborts / 2);
  console.log(`count: abort, ${aborts} requests stopped at random moments, 0 failures`);
}, 300_000);

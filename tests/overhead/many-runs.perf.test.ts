/** What a process keeps of runs that are over. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parseJsonText } from "@millrace/core/wire";
import { expect, test } from "vitest";
import { patience } from "../kit/patience.ts";
import { isChange, runs } from "../kit/runs.ts";

/** The heap after the first runs, and after all. */
async function heaps(least: number, all: number, words: number): Promise<[number, number]> {
  const program = fileURLToPath(new URL("many-runs.ts", import.meta.url));
  const flags = ["--conditions=@millrace/source", "--expose-gc", "--no-warnings"];
  const given = [least, all, words].map(String);
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program, ...given]);
  return parseJsonText(stdout) as [number, number]; // our own program printed it
}

/** Runs of 600 words, each with its own deltas, only nightly: they take a minute. */
const sizes = [
  { words: 1, least: runs(2_000, 2_000, 300), all: runs(20_000, 100_000, 900) },
  ...(isChange ? [] : [{ words: 600, least: 2_000, all: runs(8_000, 20_000) }]),
];

test.each(sizes)(
  "a process with the memory log keeps nothing of runs that are over ($words words, $all runs)",
  { timeout: patience },
  async ({ words, least, all }) => {
    const [before, after] = await heaps(least, all, words);

    console.log(`heap after ${least} runs ${before}, after ${all} runs ${after}`);
    expect(after).toBeLessThan(before * 1.1);
  },
);

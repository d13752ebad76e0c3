/** The whole product in one process and in virtual time: see `play.ts`. Each history is drawn from a seed. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { firstSeed, runs } from "../kit/runs.ts";

const folder = import.meta.dirname;
const count = runs(300, 3_000, 30);

interface Campaign {
  readonly isClean: boolean;
  readonly lines: readonly string[];
}

/** Histories in a process of their own, since they replace its clock. `plant`: a defect of `tests/planted`. */
async function campaign(parameters: readonly string[], plant?: string): Promise<Campaign> {
  const program = [
    ...(plant === undefined ? [] : ["--import", join(folder, "plant.ts")]),
    "--conditions=@millrace/source",
    join(folder, "campaign.ts"),
    ...parameters,
  ];
  const env = { ...process.env, ...(plant === undefined ? {} : { PLANT: plant }) };
  const run = promisify(execFile)(process.execPath, program, { env });
  const { isClean, stdout } = await run.then(
    (ended) => ({ isClean: true, stdout: ended.stdout }),
    (error: { readonly stdout: string }) => ({ isClean: false, stdout: error.stdout }),
  );
  return { isClean, lines: stdout.trimEnd().split("\n") };
}

const minutes = ["--minutes", "2"];
const minute = ["--minutes", "1"];

test(
  "histories with faults keep every promise, and everything is at rest soon after the last one",
  { timeout: 120_000 + count * 20_000 },
  async () => {
    const shrinks = ["--shrinks", "60"];
    const first = ["--first", String(firstSeed), "--count", String(count)];
    const { isClean, lines } = await campaign([...first, ...minutes, ...shrinks]);

    console.log(lines.at(-1));
    expect(lines.slice(0, -1)).toEqual([]);
    expect(isClean).toBe(true);
  },
);

test(
  "a seed gives the same history each time, also in another process",
  { timeout: 240_000 },
  async () => {
    const digests = async () =>
      (await campaign(["--first", "1", "--count", "3", ...minute, "--digests"])).lines.slice(0, -1);

    const [once, again] = await Promise.all([digests(), digests()]);

    expect(once).toHaveLength(3);
    expect(again).toEqual(once);
  },
);

test(
  "a post that never settles is found, and shrunk to one fault and one action",
  { timeout: 240_000 },
  async () => {
    const parameters = ["--first", "26", "--count", "1", ...minute, "--shrinks", "60"];
    const { isClean, lines } = await campaign(parameters, "381-request-without-limit");

    expect(isClean).toBe(false);
    expect(lines[0]).toMatch(/^seed 26 breaks settles: /);
    expect(lines[1]).toContain("1 faults and 1 actions");
  },
);

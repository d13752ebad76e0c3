/**
 * Plants defects of `tests/planted` one by one, each in a process of its own, and plays histories until a rule is
 * broken. Prints what found each, and fails if too few are found.
 *
 *     node tests/simulator/plants.ts                 all of the list
 *     node tests/simulator/plants.ts fence 381-      those with one of the words in their name
 */
import { join } from "node:path";
import process from "node:process";
import { execute } from "../../scripts/execute.ts";
import { foundPlants, neededPlants, unfoundPlants } from "./planted-list.ts";

/** Of processor time, for each. */
const mostSeconds = 60;

interface Finding {
  readonly rule: string;
  readonly seed: string;
  readonly seconds: string;
}

const words = process.argv.slice(2);
const rows = foundPlants.filter(
  ([name]) => words.length === 0 || words.some((word) => name.includes(word)),
);
let found = 0;
console.log("| defect | rule | seed | CPU-s |\n| --- | --- | --- | --- |");
for (const [name, first] of rows) {
  const { rule, seed, seconds } = await play(name, first);
  if (rule !== "") found += 1;
  console.log(`| ${name} | ${rule === "" ? "not found" : rule} | ${seed} | ${seconds} |`);
}
if (words.length === 0)
  for (const [name, why] of Object.entries(unfoundPlants))
    console.log(`not in reach: ${name}: ${why}`);
console.log(`count: planted defects in the simulator, ${found} of ${rows.length} found`);
process.exitCode = found >= Math.min(neededPlants, rows.length) ? 0 : 1;

async function play(name: string, first: number): Promise<Finding> {
  process.env["PLANT"] = name; // for the process that is started
  const folder = import.meta.dirname;
  const { output } = await execute([
    "node",
    "--import",
    join(folder, "plant.ts"),
    "--conditions=@millrace/source",
    join(folder, "campaign.ts"),
    "--first",
    String(first),
    "--count",
    "1000",
    "--minutes",
    "2",
    "--shrinks",
    "0",
    "--seconds",
    String(mostSeconds),
    "--until-broken",
  ]);
  const [, seed = "", rule = ""] = /^seed (\d+) breaks (.*?): /m.exec(output) ?? [];
  const [, seconds] = / in ([\d.]+) CPU-seconds/.exec(output) ?? [];
  if (seconds === undefined) console.error(output.slice(-2_000));
  return { rule, seed, seconds: seconds ?? "it ended early" };
}

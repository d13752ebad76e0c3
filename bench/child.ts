/**
 * Measures one contender in a process of its own: a warm-up, then more runs, of which the median
 * counts. Prints one line of JSON. An unexpected outcome is an error, not a figure.
 *
 *     node bench/child.ts <contender> <scenario> <port>
 */
import { isDeepStrictEqual } from "node:util";
import { contenders } from "./contenders/index.ts";
import { scenario } from "./scenario.ts";

const [name = "", model = "", port = ""] = process.argv.slice(2);
const contender = contenders[name];
if (contender === undefined) throw new Error(`there is no contender ${name}`);
const { chunks, expected } = scenario(model);
const warmUpMs = 3_000;
const enoughMs = 1_500;

async function measure(): Promise<number> {
  const before = process.cpuUsage();
  const outcome = await contender?.run(`http://127.0.0.1:${port}`, model);
  const { user, system } = process.cpuUsage(before);
  if (outcome !== "looked away" && !isDeepStrictEqual(outcome, expected)) {
    throw new Error(`${name} made something else of ${model}`);
  }
  return (user + system) / chunks;
}

/** Repeats runs until enough time has passed, and returns the cost of each. */
async function measureFor(ms: number, most: number): Promise<number[]> {
  const costs: number[] = [];
  const start = performance.now();
  while (costs.length < most && (costs.length === 0 || performance.now() - start < ms)) {
    costs.push(await measure());
  }
  return costs;
}

// The figures are for the steady state, and the compiler needs many runs to reach it.
const [first = Number.NaN] = await measureFor(warmUpMs, 60);
const costs = await measureFor(enoughMs, 15);
const median = costs.toSorted((left, right) => left - right)[costs.length >> 1];
console.log(JSON.stringify({ first, median, runs: costs.length }));
process.exit(0);

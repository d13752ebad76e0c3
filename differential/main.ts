/**
 * Replays every fixture over one local server to the vendors' SDKs, to the AI SDK and to Millrace, and
 * compares what each makes of it. Each difference is listed with the reader that is right, and why.
 * Fails if a difference is not listed, and if a listed one no longer occurs.
 *
 *     npm run differential               installs the other readers, and compares
 *     npm run differential -- --write    writes the lists anew; new rows wait for a reason
 */
import { parseArgs } from "node:util";
import { faultsOf, readReasons, readRows, renewed, writeRows } from "./list.ts";
import type { Who } from "./list.ts";
import { contenders, runAll } from "./run.ts";
import { allStreams } from "./streams.ts";

const { values: options } = parseArgs({ options: { write: { type: "boolean", default: false } } });

const streams = allStreams();
const { comparisons, differences } = await runAll(streams);
const reasons = readReasons();
let rows = {
  "differences.jsonl": readRows("differences.jsonl"),
  "defects.jsonl": readRows("defects.jsonl"),
};
if (options.write) {
  rows = { ...rows, ...renewed(differences, rows) };
  writeRows("differences.jsonl", rows["differences.jsonl"]);
  writeRows("defects.jsonl", rows["defects.jsonl"]);
}

const faults = faultsOf(differences, rows, reasons);
for (const fault of faults) console.error(fault);

const listed = Object.values(rows).flat();
function rightIn(who: Who): number {
  return listed.filter(({ reason }) => reasons[reason]?.who === who).length;
}
console.log(
  `count: differential, ${streams.length} streams x ${contenders.length + 1} readers, ` +
    `${comparisons} comparisons, ${differences.length} differences: ours is right in ${rightIn("ours")}, ` +
    `both in ${rightIn("both")}, theirs in ${rightIn("theirs")}, ${faults.length} failures`,
);
// Some SDKs keep connections open for a while.
process.exit(faults.length === 0 ? 0 : 1);

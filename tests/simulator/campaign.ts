/**
 * Plays histories by their seeds, and writes the plan of each that breaks a rule, as small as it gets.
 *
 *     node --conditions=@millrace/source tests/simulator/campaign.ts --first 1 --count 20 --minutes 5
 *     node --conditions=@millrace/source tests/simulator/campaign.ts --first 1 --count 25 --times 8
 *     node --conditions=@millrace/source tests/simulator/campaign.ts --replay reports/simulator/settles-18.json
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { play } from "./play.ts";
import type { HistoryCounts } from "./play.ts";
import { planOf } from "./scene/plan.ts";
import type { Plan } from "./scene/plan.ts";
import { shrink } from "./shrink.ts";

const reports = join(import.meta.dirname, "../../reports/simulator");

const { values } = parseArgs({
  options: {
    first: { type: "string", default: "1" },
    count: { type: "string", default: "20" },
    /** How often all of them are played. Each has to have the same digest every time. */
    times: { type: "string", default: "1" },
    minutes: { type: "string", default: "5" },
    /** How often people send something in each minute of a session. */
    sends: { type: "string", default: "2" },
    /** Ends before the next history after so many seconds of processor time. */
    seconds: { type: "string", default: "3600" },
    /** How many histories are played to shrink one that broke a rule. None: its plan is not kept. */
    shrinks: { type: "string", default: "120" },
    /** Ends with the first history that breaks a rule. */
    "until-broken": { type: "boolean", default: false },
    replay: { type: "string" },
    trace: { type: "boolean", default: false },
    digests: { type: "boolean", default: false },
  },
});

if (values.replay === undefined) await campaign();
else await replay(values.replay);

async function campaign(): Promise<void> {
  const first = Number(values.first);
  const totals = { sessionHours: 0, runs: 0, facts: 0, faults: 0, effects: 0, lines: 0, turns: 0 };
  const [count, times] = [Number(values.count), Number(values.times)];
  const digests = new Map<string, string>();
  let [played, broken] = [0, 0];
  const isOver = (): boolean =>
    played >= count * times ||
    processorSeconds() >= Number(values.seconds) ||
    (values["until-broken"] && broken > 0);
  while (!isOver()) {
    const seed = String(first + (played % count));
    const plan = planOf(seed, { minutes: Number(values.minutes), sends: Number(values.sends) });
    const { breaches, digest, counts } = await play(plan);
    played += 1;
    add(totals, counts);
    const before = digests.get(seed) ?? digest;
    digests.set(seed, before);
    if (digest !== before) {
      broken += 1;
      console.log(`history ${seed} is another one when it is played again: ${before}, ${digest}`);
    }
    if (values.digests) console.log(`history ${seed}: ${digest}, ${counts.lines} lines`);
    const [breach] = breaches;
    if (breach === undefined) continue;
    broken += 1;
    console.log(`seed ${seed} breaks ${breach.rule}: ${breach.what}`);
    const plays = Number(values.shrinks);
    if (plays > 0) await keep(await shrink(plan, { rule: breach.rule, plays }), breach.rule);
  }
  const { sessionHours, runs, faults, facts } = totals;
  const seconds = processorSeconds();
  const perSecond = (sessionHours / seconds).toFixed(2);
  console.log(
    `count: simulator, ${played} histories from seed ${first} in ${seconds.toFixed(1)} CPU-seconds, ${sessionHours.toFixed(1)} session-hours (${perSecond} per CPU-second), ${runs} runs, ${facts} facts, ${faults} faults, ${broken} broken`,
  );
  process.exit(broken === 0 ? 0 : 1);
}

async function replay(file: string): Promise<void> {
  const plan = JSON.parse(await readFile(file, "utf8")) as Plan; // written by `keep`
  const { breaches, digest, lines } = await play(plan, { keepsTrace: true });
  if (values.trace) for (const line of lines ?? []) console.log(line);
  for (const { rule, what } of breaches) console.log(`breaks ${rule}: ${what}`);
  console.log(`history ${plan.seed}: ${digest}, ${breaches.length} broken`);
  process.exit(breaches.length === 0 ? 0 : 1);
}

async function keep(plan: Plan, rule: string): Promise<void> {
  await mkdir(reports, { recursive: true });
  const file = join(reports, `${rule.replaceAll(/[^a-z-]+/g, "-")}-${plan.seed}.json`);
  await writeFile(file, `${JSON.stringify(plan, undefined, 2)}\n`);
  const { faults, actions } = plan;
  console.log(`kept with ${faults.length} faults and ${actions.length} actions: --replay ${file}`);
}

function add(totals: Record<keyof HistoryCounts, number>, counts: HistoryCounts): void {
  for (const name of Object.keys(counts) as (keyof HistoryCounts)[]) totals[name] += counts[name];
}

function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/**
 * What lies between a vendor's byte and a viewer: the delay, and the processor time of the server for
 * each delta as a ratio to a raw pipe in the same round.
 *
 *     npm run latency:web
 *     npm run latency:web -- --rounds 5 --only raw,memory --loads 40x1
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startRedis } from "../../scripts/services/redis.ts";
import { Traffic } from "./traffic.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    only: {
      type: "string",
      default: "raw,ai sdk,memory,memory 0,memory 8,memory wide,redis,redis wide",
    },
    loads: { type: "string", default: "40x1,120x1,40x10" },
    seconds: { type: "string", default: "5" },
    "warm-up": { type: "string", default: "12" },
    profile: { type: "boolean", default: false },
  },
});
/** The compiler needs many thousand deltas until the code of either contender is in its steady state. */
const warmUpMs = Number(values["warm-up"]) * 1_000;

/** The processor time is taken over short samples, of which those count that a neighbour disturbed least. */
const sampleMs = 250;
const quiet = 0.25;

interface Figures {
  /** It did not keep up: a tenth of the deltas was still under way at the end. */
  readonly behind: boolean;
  readonly p50: number;
  readonly p99: number;
  /** Microseconds for a delta of the vendor, whatever the number of viewers, of each sample. */
  readonly cpu: readonly number[];
  readonly utilization: number;
}

/** Which contenders run at a load. The AI SDK has one viewer for each reply. */
function contendersAt(viewers: number): readonly string[] {
  const names = values.only.split(",");
  return viewers === 1 ? names : names.filter((name) => ["raw", "memory", "redis"].includes(name));
}

async function measure(name: string, streams: number, viewers: number): Promise<Figures> {
  const traffic = new Traffic(streams);
  const vendor = await traffic.listen();
  const program = fileURLToPath(new URL("server.ts", import.meta.url));
  const flags = ["--conditions=@millrace/source", "--no-warnings"];
  if (values.profile) flags.push("--cpu-prof", "--cpu-prof-dir=/tmp/millrace-profile");
  const child = spawn(process.execPath, [...flags, program, name, vendor], {
    env: { ...process.env, REDIS_URL: redis.url },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout });
  const ask = async (): Promise<{ readonly cpu: number; readonly utilization: number }> => {
    child.stdin.write("cpu\n");
    return JSON.parse(String((await once(lines, "line"))[0])) as {
      cpu: number;
      utilization: number;
    };
  };
  try {
    const port = Number((await once(lines, "line"))[0]);
    for (let stream = 0; stream < streams; stream += 1) {
      for (let viewer = 0; viewer < viewers; viewer += 1) traffic.watch(port, stream);
    }
    while (!traffic.isComplete) await sleep(20);
    traffic.begin();
    await sleep(warmUpMs);
    let last = { ...(await ask()), sent: 0 };
    traffic.startMeasuring();
    const cpu: number[] = [];
    const utilizations: number[] = [];
    for (let samples = (Number(values.seconds) * 1_000) / sampleMs; samples > 0; samples -= 1) {
      await sleep(sampleMs);
      const now = { ...(await ask()), sent: traffic.sent };
      cpu.push((now.cpu - last.cpu) / (now.sent - last.sent));
      utilizations.push(now.utilization);
      last = now;
    }
    const delays = traffic.delays();
    return {
      behind: delays.length < last.sent * viewers * 0.9,
      p50: quantile(delays, 0.5),
      p99: quantile(delays, 0.99),
      cpu,
      utilization: quantile(utilizations, 0.5),
    };
  } finally {
    child.stdin.end();
    await once(child, "exit");
    traffic.close();
  }
}

function quantile(numbers: readonly number[], part: number): number {
  const ordered = numbers.toSorted((left, right) => left - right);
  return ordered[Math.floor((ordered.length - 1) * part)] ?? NaN;
}

await using redis = await startRedis();
for (const load of values.loads.split(",")) {
  const [streams = 40, viewers = 1] = load.split("x").map(Number);
  const names = contendersAt(viewers);
  const taken = new Map<string, Figures[]>(names.map((name) => [name, []]));
  for (let round = 0; round < Number(values.rounds); round += 1) {
    // Forwards and backwards in turns, so that a neighbour's load disturbs all alike.
    const order = round % 2 === 0 ? names : names.toReversed();
    for (const name of order) taken.get(name)?.push(await measure(name, streams, viewers));
  }
  const cpuOf = (name: string): number =>
    quantile(
      (taken.get(name) ?? []).flatMap(({ cpu }) => cpu),
      quiet,
    );
  console.log(
    `\n| ${streams} streams x 50/s, ${viewers} viewers each | p50 ms | p99 ms | CPU µs a delta | x raw | loop |`,
  );
  console.log("| --- | --- | --- | --- | --- | --- |");
  for (const [name, all] of taken) {
    const of = (key: "p50" | "p99" | "utilization", part: number): number =>
      quantile(
        all.map((one) => one[key]),
        part,
      );
    const shown = [
      of("p50", 0.5).toFixed(1),
      of("p99", 0.5).toFixed(1),
      cpuOf(name).toFixed(1),
      (cpuOf(name) / cpuOf("raw")).toFixed(2),
      of("utilization", 0.5).toFixed(2),
    ];
    const mark = all.some(({ behind }) => behind) ? " (does not keep up)" : "";
    console.log(`| ${name}${mark} | ${shown.join(" | ")} |`);
  }
}

/**
 * The cost of turning a vendor's bytes into a finished reply: processor time for each chunk, as a
 * ratio to the bare loop in the same run.
 *
 *     npm run bench                               all contenders, the three scenarios
 *     npm run bench -- --rounds 5 --only bare,millrace --scenarios text-20000
 *     npm run bench -- --growth                   exponents at the last doubling, to 160,000 chunks
 *
 * Each contender runs in a process of its own and the vendor in another; rounds are outermost, so
 * that noise is spread. Compare the ratios, not the microseconds.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { contenders } from "./contenders/index.ts";
import { scenario } from "./scenario.ts";

const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    only: { type: "string" },
    scenarios: { type: "string", default: "text-20000,tools-10x2000,anthropic-20000" },
    growth: { type: "boolean", default: false },
    seconds: { type: "string", default: "120" },
  },
});

interface Figure {
  readonly first: number;
  readonly median: number;
}

/** Figures by scenario and contender. A contender that took too long, or failed, has an error. */
const figures = new Map<string, Figure[]>();
const errors = new Map<string, string>();

function file(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

async function startServer(): Promise<{ process: ChildProcess; port: string }> {
  const server = spawn(process.execPath, [file("server.ts")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = (await once(server.stdout, "data")) as [Buffer];
  return { process: server, port: line.toString().trim() };
}

async function measure(name: string, model: string, port: string): Promise<Figure | string> {
  const child = spawn(process.execPath, [file("child.ts"), name, model, port], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, OPENAI_API_KEY: "k" },
    timeout: Number(options.seconds) * 1_000,
  });
  let output = "";
  let trouble = "";
  child.stdout.on("data", (bytes: Buffer) => (output += bytes.toString()));
  child.stderr.on("data", (bytes: Buffer) => (trouble += bytes.toString()));
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  if (signal !== null) return `more than ${options.seconds} s`;
  const line = output.trim().split("\n").at(-1) ?? "";
  if (code === 0 && line.startsWith("{")) return JSON.parse(line) as Figure;
  return /^\w*Error.*$/m.exec(trouble)?.[0] ?? "failed";
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? Number.NaN;
}

function cost(model: string, name: string): number {
  return median((figures.get(`${model} ${name}`) ?? []).map((figure) => figure.median));
}

async function measureAll(models: readonly string[], names: readonly string[]): Promise<void> {
  const server = await startServer();
  for (let round = 1; round <= Number(options.rounds); round += 1) {
    for (const model of models) {
      for (const name of names) {
        const key = `${model} ${name}`;
        const fits = contenders[name]?.dialects.includes(scenario(model).dialect);
        if (fits !== true || errors.has(key)) continue;
        const figure = await measure(name, model, server.port);
        if (typeof figure === "string") errors.set(key, figure);
        else figures.set(key, [...(figures.get(key) ?? []), figure]);
        const shown = typeof figure === "string" ? figure : `${figure.median.toFixed(2)} µs`;
        console.error(`round ${round}  ${model}  ${name}: ${shown}`);
      }
    }
  }
  server.process.stdin?.end();
  await once(server.process, "close");
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function printRatios(models: readonly string[], names: readonly string[]): void {
  console.log(row(["µs of processor time a chunk, × bare", ...models]));
  console.log(row(["---", ...models.map(() => "---")]));
  for (const name of names) {
    const cells = models.map((model) => {
      const error = errors.get(`${model} ${name}`);
      if (error !== undefined) return error;
      const own = cost(model, name);
      if (Number.isNaN(own)) return "–";
      return `${(own / cost(model, "bare")).toFixed(2)} (${own.toFixed(1)} µs)`;
    });
    console.log(row([name, ...cells]));
  }
}

const sizes = [20_000, 40_000, 80_000, 160_000];

function printGrowth(names: readonly string[]): void {
  for (const family of ["text", "call-1x"]) {
    console.log(row([`${family}: ms`, ...sizes.map(String), "last doubling"]));
    console.log(row(["---", ...sizes.map(() => "---"), "---"]));
    for (const name of names) {
      const spent = sizes.map((size) => (cost(modelOf(family, size), name) * size) / 1_000);
      const exponent = Math.log2((spent.at(-1) ?? 0) / (spent.at(-2) ?? 0));
      console.log(row([name, ...spent.map((ms) => ms.toFixed(0)), exponent.toFixed(2)]));
    }
  }
}

function modelOf(family: string, size: number): string {
  return family === "text" ? `text-${size}` : `call-1x${size}`;
}

const names = options.only?.split(",") ?? Object.keys(contenders);
if (options.growth) {
  const chosen = options.only === undefined ? ["bare", "millrace"] : names;
  const models = sizes.flatMap((size) => [modelOf("text", size), modelOf("call-1x", size)]);
  await measureAll(models, chosen);
  printGrowth(chosen);
} else {
  const models = options.scenarios.split(",");
  await measureAll(models, names);
  printRatios(models, names);
}

/**
 * Compares, in one run on one PostgreSQL and one Redis, three ways in which a viewer may come to a
 * fact: announced as it was before commit 98606d4 was followed (believed), announced under a MAC, and
 * announced as a hint to read the store. Takes a minute or two.
 *
 *     npm run latency
 *
 * The old commit is checked out into a temporary folder of its own. It fails if the way with a MAC
 * takes more than 1.5 times as long as the old one.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, lstatSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { startPostgres } from "../../scripts/services/postgres.ts";
import { startRedis } from "../../scripts/services/redis.ts";
import { temporaryFolder } from "../../scripts/temporary.ts";
import { root } from "../../scripts/workspace.ts";
import { retryWhenNoisy } from "../kit/retry-when-noisy.ts";

const oldCommit = "98606d4";
const turns = 20;
const limit = 1.5;
const program = "tests/forged/latency-run.ts";
const run = promisify(execFile);

type Figures = Readonly<Record<string, number>>;
type Way = "believed" | "mac" | "read";

/** The old tree, with this one's libraries and the old one's packages. */
async function checkOut(folder: string): Promise<void> {
  const archive = join(dirname(folder), `${oldCommit}.tar`);
  await run("git", ["archive", "-o", archive, oldCommit], { cwd: root });
  await run("tar", ["-xf", archive, "-C", folder]);
  for (const place of ["", "packages/agent"]) {
    const libraries = join(root, place, "node_modules");
    mkdirSync(join(folder, place, "node_modules"), { recursive: true });
    for (const name of readdirSync(libraries)) {
      const to = join(folder, place, "node_modules", name);
      // Our own packages are links to their folders, which must be those of this tree.
      if (name === "@millrace")
        cpSync(join(libraries, name), to, { recursive: true, verbatimSymlinks: true });
      else if (lstatSync(join(libraries, name), { throwIfNoEntry: false }) !== undefined)
        symlinkSync(join(libraries, name), to);
    }
  }
  cpSync(join(root, program), join(folder, program), { recursive: true });
}

using space = temporaryFolder();
const old = join(space.path, "old");
mkdirSync(old);
await checkOut(old);
await using redis = await startRedis();
await using postgres = await startPostgres();
const trees: Readonly<Record<Way, string>> = { believed: old, mac: root, read: old };
const taken: Record<Way, Figures[]> = { believed: [], mac: [], read: [] };

/** Starts the program in a tree. The answer takes one turn. */
async function start(way: Way): Promise<() => Promise<Figures>> {
  const name = `latency_${way}`;
  await postgres.query(`create database ${name}`);
  const env = {
    ...process.env,
    POSTGRES: postgres.urlOf(name),
    REDIS: redis.url,
    PREFIX: `${name}:`,
    WAY: way === "read" ? "read" : "carried",
  };
  const flags = ["--conditions=@millrace/source", "--no-warnings", program];
  const child = spawn(process.execPath, flags, {
    cwd: trees[way],
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.defer(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout });
  return async () => {
    child.stdin.write("turn\n");
    const [line] = (await once(lines, "line")) as [string];
    return JSON.parse(line) as Figures; // the program is our own
  };
}

using children = new DisposableStack();
const ways = {
  believed: await start("believed"),
  mac: await start("mac"),
  read: await start("read"),
};
/** Of each figure the least of all turns: others use the machine too, which only adds. */
function leastOf(figures: readonly Figures[], name: string): number {
  return Math.min(...figures.map((one) => one[name] ?? NaN));
}

const units: Readonly<Record<string, string>> = {
  factP50: "ms from a stored fact to the viewer, half",
  factP99: "ms from a stored fact to the viewer, 99 of 100",
  batchP50: "ms from an appended batch to the viewer, half",
  batchP99: "ms from an appended batch to the viewer, 99 of 100",
  hubReads: "reads of the store by the hub for each fact",
  factCpu: "us of the processor for each fact, writer and hub",
  batchCpu: "us of the processor for each batch, writer and hub",
  factBytes: "bytes published for each fact",
  batchBytes: "bytes published for each batch",
};
/** Takes more turns. They alternate, so that whatever else the machine does disturbs all of them. */
async function measure(): Promise<readonly string[]> {
  for (let turn = 0; turn < turns; turn += 1) {
    for (const way of ["believed", "mac", "read"] as const) taken[way].push(await ways[way]());
  }
  return ["factP50", "factP99"].filter(
    (name) => leastOf(taken.mac, name) > limit * leastOf(taken.believed, name),
  );
}

const slower = await retryWhenNoisy(measure, (names) => names.length === 0);
console.log(`${"believed".padStart(10)}${"MAC".padStart(10)}${"read".padStart(10)}`);
for (const [name, unit] of Object.entries(units)) {
  const row = (["believed", "mac", "read"] as const).map((way) =>
    leastOf(taken[way], name).toFixed(2).padStart(10),
  );
  console.log(`${row.join("")}  ${unit}`);
}
if (slower.length > 0) {
  console.error(`more than ${limit} times as long as before: ${slower.join(", ")}`);
  process.exitCode = 1;
}

/**
 * Compares what sessions cost on PostgreSQL with another commit: processor time of the database and of
 * the client, log and commits, for a run of text and for a step with a tool, and the database's time
 * for a session that is watched and silent. Both checkouts take turns on one server, so that a noisy
 * machine disturbs both alike. Read the ratios.
 *
 *     npm run cost -- 98606d4
 *     npm run cost -- 98606d4 --rounds 5
 */
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { execute } from "./execute.ts";
import { linkDependencies } from "./scratch-copy.ts";
import { startPostgres } from "./services/postgres.ts";
import { temporaryFolder } from "./temporary.ts";
import { root } from "./workspace.ts";

interface Cost {
  readonly database: number;
  readonly client: number;
  readonly wal: number;
  readonly commits: number;
}
interface Costs {
  readonly text: Cost;
  readonly tool: Cost;
  readonly silent: number;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string", default: "3" } },
});
const [commit] = positionals;
if (commit === undefined) throw new Error("which commit? npm run cost -- <commit>");

using folder = temporaryFolder();
const tree = join(folder.path, "then");
await run(["git", "worktree", "add", "--detach", tree, commit]);
try {
  linkDependencies(tree);
  copyFileSync(join(root, "scripts/cost-run.ts"), join(tree, "scripts/cost-run.ts"));
  await using server = await startPostgres({
    settings: { checkpoint_timeout: "1h", max_wal_size: "8GB", autovacuum: "off" },
  });
  const measure = async (place: string, name: string): Promise<Costs> => {
    await server.query(`create database ${name}`);
    process.env["DATABASE_URL"] = server.urlOf(name);
    process.env["POSTGRES_PID"] = `${server.pid}`;
    const program = join(place, "scripts/cost-run.ts");
    const output = await run(["node", "--conditions=@millrace/source", program], place);
    return JSON.parse(output.trim().split("\n").at(-1) ?? "") as Costs;
  };
  const [then, now]: [Costs[], Costs[]] = [[], []];
  for (let round = 0; round < Number(values.rounds); round += 1) {
    then.push(await measure(tree, `then_${round}`));
    now.push(await measure(root, `now_${round}`));
  }
  print(then, now);
} finally {
  rmSync(tree, { recursive: true, force: true });
  await run(["git", "worktree", "prune"]);
}

function print(then: readonly Costs[], now: readonly Costs[]): void {
  const row = (name: string, of: (costs: Costs) => number, digits = 0): void => {
    const [before, after] = [then, now].map((costs) => median(costs.map(of)));
    if (before === undefined || after === undefined) return;
    const figures = [before, after].map((figure) => figure.toFixed(digits));
    console.log(`| ${[name, ...figures, (after / before).toFixed(2)].join(" | ")} |`);
  };
  console.log(`| medians of ${then.length} rounds | ${commit} | this tree | × |`);
  console.log("| --- | --- | --- | --- |");
  for (const [name, of] of [
    ["text run", (costs: Costs) => costs.text],
    ["tool step", (costs: Costs) => costs.tool],
  ] as const) {
    row(`${name}: database, µs of CPU`, (costs) => of(costs).database);
    row(`${name}: client, µs of CPU`, (costs) => of(costs).client);
    row(`${name}: log, bytes`, (costs) => of(costs).wal);
    row(`${name}: commits`, (costs) => of(costs).commits, 2);
  }
  row("silent session: database, µs of CPU a second", (costs) => costs.silent, 2);
}

function median(figures: readonly number[]): number {
  return figures.toSorted((one, other) => one - other)[Math.floor(figures.length / 2)] ?? 0;
}

async function run(command: readonly [string, ...string[]], cwd?: string): Promise<string> {
  const { ok, output } = await execute(command, cwd);
  if (!ok) throw new Error(`${command.join(" ")}: ${output}`);
  return output;
}

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../temporary.ts";
import { root } from "../workspace.ts";
import { findProcess } from "./process-table.ts";
import { temporalVersion } from "./programs.ts";

/** Machines are noisy. */
const patience = { timeout: 30_000 };

/** Stands in for Go: "compiles" the two programs after a while, and counts how often it is called. */
const compiles = `echo "$*" >> "$CALLS"; sleep 1; for name in server sql; do printf '#!/bin/sh' > "$GOBIN/$name"; chmod 755 "$GOBIN/$name"; done`;
const fails = `echo "$*" >> "$CALLS"; echo "go: no such module" >&2; exit 1`;
/** A compiler below it goes on for minutes. */
const hangs = `sleep 301 & echo $! $$ >> "$CALLS"; wait`;

test("the script builds into the folder in which the programs are looked for", async () => {
  using place = placeWith({ go: compiles });

  const build = await run(place, "sh", [script]);
  const found = await run(place, process.execPath, [
    "-p",
    `import(${JSON.stringify(join(import.meta.dirname, "programs.ts"))}).then((all) => console.log(JSON.stringify(all.findTemporal())))`,
  ]);

  expect(build.output).toMatch(/^Temporal [\d.]+ is built, in \d+ s\n$/);
  expect(found.output).toContain(join(cacheOf(place), `temporal-${temporalVersion}`, "server"));
  const modules = ["server", "tools/sql"].map(
    (name) => `go.temporal.io/server/cmd/${name}@v${temporalVersion}`,
  );
  expect(calls(place)).toEqual([`install ${modules.join(" ")}`]);
});

test("of two builds at once the second waits and finds the programs of the first", async () => {
  using place = placeWith({ go: compiles });

  const builds = await Promise.all([run(place, "sh", [script]), run(place, "sh", [script])]);

  expect(builds.map(({ code }) => code)).toEqual([0, 0]);
  expect(calls(place)).toHaveLength(1);
  expect(builds.map(({ output }) => output).toSorted()).toEqual([
    `Temporal ${temporalVersion} is built\n`,
    expect.stringMatching(/is built, in \d+ s\n$/),
  ]);
});

test("a build that fails prints the end of Go's output, and leaves nothing that looks built", async () => {
  using place = placeWith({ go: fails });

  const { code, output } = await run(place, "sh", [script]);

  expect(code).toBe(1);
  expect(output).toContain("can't be built; the end of Go's output:\ngo: no such module\n");
  expect(readdirSync(cacheOf(place))).toEqual([`temporal-${temporalVersion}.lock`]);
});

test.for(["SIGTERM", "SIGHUP"] as const)("%s ends a build with its compilers", async (name) => {
  using place = placeWith({ go: hangs });
  const { child, end } = start(place, "sh", [script]);
  await expect.poll(() => calls(place), patience).toHaveLength(1);

  child.kill(name);

  expect((await end).code).toBe(1);
  await expect.poll(() => compilersOf(place), patience).toEqual([]);
  expect(readdirSync(cacheOf(place))).toEqual([`temporal-${temporalVersion}.lock`]);
});

test("a build beside CI ends with it, when CI fails early and when it is ended", async () => {
  using early = placeWith({
    go: hangs,
    npm: `until [ -s "$CALLS" ]; do sleep 0.1; done; exit 1`,
    tmux: "",
  });
  using ended = placeWith({ go: hangs, npm: "exec sleep 302", tmux: "" });
  const failing = run(early, "bash", [ci]);
  const { child, end } = start(ended, "bash", [ci]);
  await expect.poll(() => calls(ended), patience).toHaveLength(1);

  signalGroup(child, "SIGINT"); // as Ctrl-C at a terminal
  const [{ code, output }] = await Promise.all([failing, end]);

  expect({ code, output }).toEqual({ code: 1, output: "0 passed, 1 failed\n" });
  expect(calls(early)).toHaveLength(1);
  for (const place of [early, ended]) {
    await expect.poll(() => compilersOf(place), patience).toEqual([]);
  }
});

test("a failed build fails its stage of CI, with the end of Go's output last", async () => {
  using place = placeWith({ go: fails });

  const stage = [join(root, "scripts/ci.ts"), "temporal server"];
  const { code, output } = await run(place, process.execPath, stage);

  expect(code).toBe(1);
  expect(output.slice(output.indexOf("failed: temporal server"))).toContain("go: no such module");
  expect(output).toMatch(
    /\ntemporal server: [\d.]+ s, 0 passed, 1 failed\n\n0 passed, 1 failed\n$/,
  );
});

test("without the programs a Temporal server rejects with the command that builds them", async () => {
  using place = placeWith({});

  const main = join(import.meta.dirname, "main.ts");
  const { code, output } = await run(place, process.execPath, [main, "temporal"]);

  expect(code).toBe(1);
  expect(output).toBe("Temporal is not installed: run `npm run services -- install temporal`\n");
});

const script = join(import.meta.dirname, "build-temporal.sh");
const ci = join(root, ".ci/run");

/** A cache of its own, and programs that are first on the path. */
function placeWith(programs: Readonly<Record<string, string>>): TemporaryFolder {
  const files = Object.entries(programs).map(([name, text]) => [
    `bin/${name}`,
    `#!/bin/sh\n${text}\n`,
  ]);
  const place = temporaryFolder(Object.fromEntries(files) as Record<string, string>);
  for (const name of Object.keys(programs)) chmodSync(join(place.path, "bin", name), 0o755);
  mkdirSync(cacheOf(place), { recursive: true });
  return place;
}

function cacheOf({ path }: TemporaryFolder): string {
  return join(path, "cache/millrace-services");
}

/** What the stand-in for Go was called with, or the ids of its processes. */
function calls({ path }: TemporaryFolder): readonly string[] {
  const file = join(path, "calls");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}

function compilersOf(place: TemporaryFolder): readonly string[] {
  const ids = calls(place).flatMap((line) => line.split(" "));
  return ids.filter((id) => findProcess(Number(id)) !== undefined);
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

function run(place: TemporaryFolder, file: string, parameters: readonly string[]): Promise<Ended> {
  return start(place, file, parameters).end;
}

/** Starts a program in a process group of its own. `end` has all that it printed. */
function start(
  { path }: TemporaryFolder,
  file: string,
  parameters: readonly string[],
): { readonly child: ChildProcess; readonly end: Promise<Ended> } {
  const child = spawn(file, parameters, {
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      NODE_OPTIONS: "",
      PATH: [join(path, "bin"), process.env["PATH"]].join(delimiter),
      XDG_CACHE_HOME: join(path, "cache"),
      CALLS: join(path, "calls"),
    },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const end = once(child, "close").then(([code]: unknown[]) => ({
    code: typeof code === "number" ? code : null,
    output,
  }));
  return { child, end };
}

function signalGroup({ pid }: ChildProcess, name: NodeJS.Signals): void {
  if (pid !== undefined) process.kill(-pid, name);
}

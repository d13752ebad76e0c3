import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { registerSecret } from "@millrace/core/secrets";
import { describe, expect, it } from "vitest";
import { runs } from "../kit/runs.ts";
import { encodings, leaked, secretsOf, wordsWith } from "./kit.ts";
import { failEverywhere, sinkNames, writers } from "./sinks.ts";
import type { SinkName } from "./sinks.ts";

const total = runs(2_000, 50_000, 100);
const perRound = 250;
const timeout = 600_000;

/** Runs with secrets registered, and takes them back. */
async function withSecrets<T>(values: readonly string[], run: () => Promise<T>): Promise<T> {
  const releases = values.map((value, at) => registerSecret({ name: `secret ${at}`, value }));
  try {
    return await run();
  } finally {
    for (const release of releases) release();
  }
}

/** The sinks of a process that a test can't watch from inside. */
const outside: readonly SinkName[] = ["process warnings", "crash output"];

describe("a registered secret", () => {
  it("reaches no sink that is not content, in any of five encodings", { timeout }, async () => {
    let checked = 0;
    for (let seed = 1; checked < total; seed += 1) {
      const secrets = secretsOf(seed, Math.min(perRound, total - checked));
      const words = wordsWith(secrets);
      const written = await withSecrets(secrets, () => failEverywhere(`bad: ${words}`));

      for (const sink of sinkNames) {
        if (outside.includes(sink)) continue;
        const text = written.get(sink) ?? "";
        expect(text, `${sink} shows that something failed`).toContain("[redacted]");
        expect(leaked(text, secrets), `${sink}, seed ${seed}`).toEqual([]);
      }
      checked += secrets.length;
    }
    const inside = sinkNames.length - outside.length;
    console.log(`count: secrets ${checked} in ${encodings.length} encodings in ${inside} sinks`);
  });

  it(
    "would be found by this test: one that is not registered is in every sink",
    { timeout },
    async () => {
      const secrets = secretsOf(1, 2);
      const written = await failEverywhere(wordsWith(secrets));

      for (const sink of sinkNames) {
        if (outside.includes(sink)) continue;
        expect(leaked(written.get(sink) ?? "", secrets), sink).not.toEqual([]);
      }
    },
  );

  it.each(["warning", "unread", "rejection", "crash"])(
    "is in nothing that a process prints by itself: %s",
    { timeout },
    async (how) => {
      const output = await outputOf([how, "1", `${total}`]);

      expect(output).toMatch(how === "warning" ? /MILLRACE_SECRET_IN_CONTENT/ : /\[redacted\]/);
      if (how === "unread") expect(output).toContain("MILLRACE_RUN_FAILED");
      expect(leaked(output, secretsOf(1, total))).toEqual([]);
    },
  );
});

it("every file that writes somewhere is covered by a sink", () => {
  const packages = join(import.meta.dirname, "../../packages");
  const writes =
    /emitWarning|\bwarn\(|console\.|process\.std(?:out|err)|sink\.write|writerTo|setStatus|recordException|quietly\(this\.#options\.onError|#report\(\{|request\.notify/;
  const files = ["agent", "core", "providers", "server", "stores", "temporal"].flatMap((name) =>
    readdirSync(join(packages, name, "src"), { recursive: true, encoding: "utf8" })
      .map((file) => `${name}/src/${file}`)
      .filter((file) => file.endsWith(".ts") && !/test|\/serve\//.test(file)),
  );
  // A message that names a sink, such as what to write instead, writes nothing.
  const codeOf = (file: string): string =>
    readFileSync(join(packages, file), "utf8").replaceAll(/"[^"\n]*"/g, '""');
  const found = files.filter((file) => writes.test(codeOf(file)));

  expect(found.toSorted()).toEqual(Object.keys(writers).toSorted());
});

/** All that the program prints, however it ends. */
async function outputOf(args: readonly string[]): Promise<string> {
  const program = join(import.meta.dirname, "crash-run.ts");
  const given = ["--conditions=@millrace/source", program, ...args];
  const options = { timeout: 300_000, maxBuffer: 256 * 1024 * 1024 };
  return await new Promise((resolve) => {
    execFile(process.execPath, given, options, (_, stdout, stderr) => resolve(stdout + stderr));
  });
}

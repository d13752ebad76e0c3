/** What the import of one provider costs, from the built package, as users load it. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { root } from "../../scripts/workspace.ts";
import { percentile } from "../kit/distribution.ts";
import { retryWhenNoisy } from "../kit/retry-when-noisy.ts";

const folder = join(root, "packages/providers");
const vendors = "anthropic azure bedrock compatible gemini openai vertex vertex-anthropic"
  .split(" ")
  .map((name) => `@millrace/providers/${name}`);
const rounds = 5;
const most = 1.15;

/** Prints the processor time of an import in milliseconds: other processes disturb it less than the clock. */
const program = `
  const before = process.cpuUsage();
  await import(process.argv[1]);
  const { user, system } = process.cpuUsage(before);
  console.log((user + system) / 1000);
`;

async function costOf(specifier: string): Promise<number> {
  const parameters = ["--input-type=module", "--eval", program, specifier];
  // A process of its own, in the package's folder, without the condition for sources.
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { cwd: folder });
  return Number(stdout);
}

/** The medians of processes that take turns, relative to the import of undici alone. */
async function measure(): Promise<Readonly<Record<string, number>>> {
  const costs = new Map<string, number[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const specifier of ["undici", ...vendors]) {
      costs.set(specifier, [...(costs.get(specifier) ?? []), await costOf(specifier)]);
    }
  }
  const bare = percentile(costs.get("undici") ?? [], 0.5);
  return Object.fromEntries(
    vendors.map((name) => [
      name,
      Number((percentile(costs.get(name) ?? [], 0.5) / bare).toFixed(2)),
    ]),
  );
}

test(`the import of one provider costs at most ${most} of the import of undici`, async () => {
  expect(existsSync(join(folder, "dist/anthropic.js")), "run npm run build first").toBe(true);

  const ratios = await retryWhenNoisy(measure, (found) =>
    Object.values(found).every((ratio) => ratio <= most),
  );

  console.log(`import relative to undici: ${JSON.stringify(ratios)}`);
  for (const [name, ratio] of Object.entries(ratios)) {
    expect(ratio, name).toBeLessThanOrEqual(most);
  }
}, 300_000);

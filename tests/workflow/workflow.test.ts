/** The loop in a workflow sandbox: bundled by Temporal's own bundler, and run without Node. */
import { beforeAll, expect, test } from "vitest";
import { runs } from "../kit/runs.ts";
import { type Bundle, bundleWorkflow } from "./bundle.ts";
import { decideText } from "./entry.ts";
import { drawMoments } from "./moments.ts";
import { openSandbox } from "./sandbox.ts";

const entry = "tests/workflow/entry.ts";
const limit = 64 * 1024;

let bundle: Bundle;
beforeAll(async () => void (bundle = await bundleWorkflow(entry)), 60_000);

test("the loop is bundled for workflows without any module but ours", () => {
  const files = bundle.modules.map(({ file }) => file);

  expect(files).toContain("packages/agent/src/loop/decide.ts");
  expect(files.filter((file) => !/^packages\/(agent\/src\/loop|core\/src)\//.test(file))).toEqual([
    entry,
  ]);
  expect(bundle.foreign).toEqual([]);
});

test("the modules of the loop have less than 64 KiB in a bundle", () => {
  const ours = bundle.modules.filter(({ file }) => file !== entry);
  const bytes = ours.reduce((sum, module) => sum + module.bytes, 0);

  console.log(`loop in a workflow bundle: ${ours.length} modules, ${bytes} bytes of ${limit}`);
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThan(limit);
});

test.each([
  "Date.now()",
  "new Date()",
  "Math.random()",
  "setTimeout(() => {}, 1)",
  "process.env",
  "require('node:fs')",
  "fetch('https://example.org')",
  "performance.now()",
  "crypto.randomUUID()",
  "queueMicrotask(() => {})",
  "setImmediate(() => {})",
])("the sandbox throws for %s", (expression) => {
  const sandbox = openSandbox(bundle.code);

  expect(() => sandbox.evaluate(expression)).toThrow();
});

test("the loop decides random prefixes of histories in the sandbox as outside of it", () => {
  const sandbox = openSandbox(bundle.code);
  const decided = drawMoments(runs(1_000, 50_000));
  const kinds = new Set<string>();

  for (const { moment, action } of decided) {
    const inside = sandbox.call("decideText", moment);
    kinds.add((JSON.parse(inside) as { readonly do: string }).do);
    expect(inside).toBe(action);
    expect(decideText(moment)).toBe(action);
  }

  console.log(`count: decisions in a workflow sandbox, ${decided.length}, 0 failures`);
  expect(kinds.size).toBeGreaterThanOrEqual(10);
});

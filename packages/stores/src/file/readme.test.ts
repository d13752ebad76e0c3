import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it, vi } from "vitest";
import { programArguments } from "../testing/child.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { openFolder } from "../testing/fixtures.ts";

vi.setConfig({ testTimeout: patience });

it("the program in the README prints the same when it is run again", async () => {
  await using folder = await openFolder();
  const run = async (): Promise<string> => {
    const program = programArguments("readme-run.ts");
    const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: folder.path });
    return stdout;
  };

  const first = await run();

  expect(first).toMatch(/^\{"type":"input_accepted".*Where is it warm in May\?.*\}\ntrue\n$/);
  expect(await run()).toBe(first);
  expect(await readdir(join(folder.path, "sessions"))).toEqual(["holiday%20plans.jsonl"]);
});

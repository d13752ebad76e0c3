import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { sharedRedis } from "../../../../scripts/services/shared.ts";
import { programArguments } from "../testing/child.ts";
import { patience } from "../../../../tests/kit/patience.ts";

it("the program in the README sees what it writes, and ends", { timeout: patience }, async () => {
  const { url } = await sharedRedis();

  const { stdout } = await promisify(execFile)(
    process.execPath,
    programArguments("redis-readme-run.ts"),
    { env: { ...process.env, REDIS_URL: url } },
  );

  expect(stdout).toBe("seen\n");
});

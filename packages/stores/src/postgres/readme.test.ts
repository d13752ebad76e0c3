import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { sharedPostgres } from "../../../../scripts/services/shared.ts";
import { programArguments } from "../testing/child.ts";

const run = promisify(execFile);

it("the program of the README stores its input once, however often it is run", async () => {
  await using space = await sharedPostgres();
  const env = { ...process.env, DATABASE_URL: space.url };
  const program = programArguments("postgres-readme-run.ts");

  const first = await run(process.execPath, program, { env });
  const second = await run(process.execPath, program, { env });

  expect(first.stdout).toBe("accepted\ntrue\n");
  expect(second.stdout).toBe("duplicate\ntrue\n");
});

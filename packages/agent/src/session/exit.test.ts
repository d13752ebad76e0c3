import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const program = `
  import { defineAgent } from "@millrace/agent";
  import { say, scriptedModel } from "@millrace/core/testing";
  const session = await defineAgent({ model: scriptedModel([[say("hi")]]) }).open();
  console.log(await session.send("go").text());
`;

it("a process ends although its session is still open", { timeout: 60_000 }, async () => {
  const args = ["--conditions=@millrace/source", "--input-type=module", "--eval", program];
  const options = { cwd: import.meta.dirname, timeout: 30_000 };

  const { stdout } = await promisify(execFile)(process.execPath, args, options);

  expect(stdout).toBe("hi\n");
});

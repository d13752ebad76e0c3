import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { processorSeconds } from "./processor-seconds.ts";

const burn = "while (process.cpuUsage().user < 400_000);";

it("the time of a process has that of its children, while they run and after they have ended", async () => {
  const before = processorSeconds(process.pid);
  await promisify(execFile)(process.execPath, ["-e", burn]);
  const ended = processorSeconds(process.pid);
  const script = `${burn} console.log("burnt"); setInterval(() => undefined, 1_000);`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "ignore"] });
  await once(child.stdout, "data");
  const running = processorSeconds(process.pid);
  child.kill();

  expect(ended - before).toBeGreaterThan(0.35);
  expect(running - ended).toBeGreaterThan(0.35);
});

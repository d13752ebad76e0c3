import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startServer } from "./server.ts";

test("a server whose port was taken by another is started on other ports, however long its log says so", async () => {
  const tried: number[][] = [];
  const program = `
    import { existsSync, writeFileSync } from "node:fs";
    const stack = "at another.place".repeat(1000);
    if (existsSync("tried")) { writeFileSync("answers", ""); setInterval(() => {}, 1000); }
    else { writeFileSync("tried", ""); console.log(JSON.stringify({ error: "address already in use", stack })); }`;

  await using server = await startServer({
    name: "taken",
    furtherPorts: 3,
    command: ({ folder, port, furtherPorts }) => {
      tried.push([port, ...furtherPorts]);
      const run = `process.chdir(${JSON.stringify(folder)});${program}`;
      return { file: process.execPath, parameters: ["--input-type=module", "--eval", run] };
    },
    answers: ({ folder }) => Promise.resolve(existsSync(join(folder, "answers"))),
    url: ({ port }) => `127.0.0.1:${port}`,
    quit: "SIGKILL",
  });

  expect(server.pid).toBeGreaterThan(0);
  expect(tried).toHaveLength(2);
  expect(new Set(tried.flat()).size).toBe(8);
});

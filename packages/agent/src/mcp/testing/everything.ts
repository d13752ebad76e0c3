import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { createRequire } from "node:module";
import process from "node:process";
import { fileURLToPath } from "node:url";

const program = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-everything/dist/index.js",
);

/** The command that starts the protocol's own test server on standard input and output. */
export const everythingCommand: readonly string[] = [process.execPath, program, "stdio"];

/** The protocol's own test server on a free port of the loopback. */
export interface HttpEverything extends AsyncDisposable {
  readonly url: string;
  readonly child: ChildProcess;
}

export async function startEverything(): Promise<HttpEverything> {
  const loopback = fileURLToPath(new URL("loopback.ts", import.meta.url));
  const child = spawn(
    process.execPath,
    ["--no-warnings", "--import", loopback, program, "streamableHttp"],
    { env: { PATH: process.env["PATH"], PORT: "0" }, stdio: ["ignore", "ignore", "pipe"] },
  );
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const port = await new Promise<string>((resolve, reject) => {
    let said = "";
    child.stderr.on("data", (bytes: Buffer) => {
      said += bytes.toString("utf8");
      const found = /port:(\d+)\n/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
    void exited.then(() => reject(new Error(`the test server did not start: ${said}`)));
  });
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    child,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

// Runs the program with the protocol's own test server, over streamable HTTP on this machine.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const file = (name: string): string => new URL(name, import.meta.url).pathname;

// By default the server listens on every address; this makes it listen on loopback only, and print
// its port.
const loopback = file("../../packages/agent/src/mcp/testing/loopback.ts");
const program = fileURLToPath(
  import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"),
);
const server = spawn(
  process.execPath,
  ["--no-warnings", "--import", loopback, program, "streamableHttp"],
  { env: { PATH: process.env["PATH"], PORT: "0" }, stdio: ["ignore", "ignore", "pipe"] },
);
/** The program with the server at this address. */
const run = async (url: string): Promise<{ stdout: string; stderr: string }> =>
  await promisify(execFile)(process.execPath, ["--conditions=@millrace/source", file("main.ts")], {
    env: { PATH: process.env["PATH"], MCP_URL: url },
    timeout: 60_000,
  });
const exited = once(server, "exit");
try {
  const { stdout, stderr } = await run(`http://127.0.0.1:${await portOf()}/mcp`);
  assert.equal(stderr, "");
  const lines = stdout.trimEnd().split("\n");
  assert.equal(lines[0], "locate ok { city: 'Oslo' }");
  assert.deepEqual(lines.slice(1, 4).toSorted(), [
    "every_get-sum ok The sum of 4 and 2 is 6.",
    "packer ok A coat, and boots.",
    "weather ok { city: 'Oslo', celsius: 4 }",
  ]);
  assert.deepEqual(lines.slice(4), ["Take a coat, and boots."]);
} finally {
  server.kill("SIGKILL");
  await exited;
}

await assert.rejects(run("http://127.0.0.1:9/mcp"), /the server every could not be opened/);
console.log("tools of one's own, a client's, a server's and another agent");

const vendor = await promisify(execFile)(process.execPath, [
  "--conditions=@millrace/source",
  file("vendor.ts"),
]);
assert.equal(vendor.stderr, "");
assert.match(vendor.stdout, /may this run\? shell {"commands":\["uptime"\]}\n► allowed/);
assert.match(vendor.stdout, /Map\(1\) { '\/memories\/load\.md' => 'Low on Monday\.' }\n$/);
console.log("a shell that a person allowed, and a memory");

async function portOf(): Promise<string> {
  let output = "";
  for await (const piece of server.stderr) {
    output += String(piece);
    const port = /port:(\d+)\n/.exec(output)?.[1];
    if (port !== undefined) return port;
  }
  throw new Error(`the server did not start: ${output}`);
}

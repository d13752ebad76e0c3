// Runs the program with OpenTelemetry's own SDK, as its user would set it up, and without any.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";

interface Span {
  readonly name: string;
  readonly id: string;
  readonly parent?: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

const file = (name: string): string => new URL(name, import.meta.url).pathname;
const run = (...options: readonly string[]): Promise<{ stdout: string; stderr: string }> =>
  promisify(execFile)(
    process.execPath,
    ["--conditions=@millrace/source", ...options, file("main.ts")],
    { timeout: 60_000 },
  );

const { stdout, stderr } = await run("--import", import.meta.resolve("./telemetry.ts"));
const lines = stdout.split("\n");
assert.deepEqual(lines.slice(0, 2), ['► weather {"city":"Oslo"}', "► weather: ok"]);
assert.match(lines[2] ?? "", /^Take a coat\. \(I was asked: .*My card is \(a card\)\./);
assert.equal(lines[3], "1 1 1");

const spans = JSON.parse(stderr) as readonly Span[];
const [whole] = spans.filter(({ name }) => name.startsWith("invoke_agent"));
const chats = spans.filter(({ name }) => name.startsWith("chat"));
const tools = spans.filter(({ name }) => name.startsWith("execute_tool"));
assert.deepEqual([chats.length, tools.length], [2, 1]);
assert.ok([...chats, ...tools].every(({ parent }) => parent === whole?.id));
assert.equal(tools[0]?.attributes["gen_ai.tool.name"], "weather");
assert.doesNotMatch(stderr, /card|Oslo|coat/i, "telemetry carries no content");

assert.deepEqual(await run(), { stdout, stderr: "" });
console.log("narrated, counted, traced and redacted");

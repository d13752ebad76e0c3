// Runs the program and compares what it prints, without the frames of the spinner: their number is time.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const main = new URL("main.ts", import.meta.url).pathname;
const { stdout, stderr } = await promisify(execFile)(
  process.execPath,
  ["--conditions=@millrace/source", main],
  { timeout: 60_000 },
);

assert.match(stdout, /\r[|/\\-]/, "the spinner turns while the tool runs");
assert.deepEqual(stdout.replaceAll(/\r[|/\\-]?/g, "").split("\n"), [
  'provider: ["Hello"," world"] -> Hello world (end)',
  String.raw`provider: ["{\"pa","th\": \"f.txt\"}"] -> read({"path": "f.txt"}) (tools)`,
  'mock: ["H","e","l","l","o"] -> Hello (end)',
  String.raw`mock: ["{\"path\":\"f.txt\"}"] -> read({"path":"f.txt"}) (tools)`,
  '[read {"path":"f.txt"}]It says forty-two.',
  "the spinner turned",
  "You asked about f.txt.",
  "history: user, model, tool, model, user, model",
  "error: provider_failed",
  "concurrent: 20 replies",
  "",
]);
assert.equal(stderr, "");
console.log(
  "streamed from raw bytes, by a mock, in a terminal with a spinner, and for 20 tasks at once",
);

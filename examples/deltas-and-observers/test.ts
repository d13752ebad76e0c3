// Runs the program and compares everything it prints.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const main = new URL("main.ts", import.meta.url).pathname;
const { stdout, stderr } = await promisify(execFile)(
  process.execPath,
  ["--conditions=@millrace/source", main],
  { timeout: 60_000 },
);

const done = ["begin_part 1 text", 'append_text 1 "Done."', 'commit_part 1 "Done."'];
const expected = [
  ["", "== text", "The answer is 42."],
  ["begin_part 1 text", 'append_text 1 "The "', 'append_text 1 "answer"', 'append_text 1 " is "'],
  ['append_text 1 "42."', 'commit_part 1 "The answer is 42."', "transcript: text, text"],

  ["", "== multi-part", "I'll read that file.Done."],
  ["begin_part 1 text", `append_text 1 "I'll read that file."`],
  [`commit_part 1 "I'll read that file."`, "begin_part 2 tool_call fs.read_file"],
  [String.raw`append_text 2 "{\"path\":"`, String.raw`append_text 2 " \"src/main.rs\"}"`],
  ['commit_part 2 fs.read_file {"path":"src/main.rs"}', ...done],
  ["transcript: text, text, tool_call, tool_result, text"],

  ["", "== tool call", "Done.", "begin_part 1 tool_call fs.read_file"],
  [String.raw`append_text 1 "{\"pa"`, String.raw`append_text 1 "th\":"`],
  [String.raw`append_text 1 " \"sr"`, 'append_text 1 "c/mai"', String.raw`append_text 1 "n.rs\""`],
  ['append_text 1 "}"', 'commit_part 1 fs.read_file {"path":"src/main.rs"}', ...done],
  ["transcript: text, tool_call, tool_result, text"],

  ["", "== parallel calls", "Done."],
  ["begin_part 1 tool_call fs.read_file", "begin_part 2 tool_call shell.exec"],
  [String.raw`append_text 1 "{\"path\":"`, String.raw`append_text 2 "{\"exec"`],
  [String.raw`append_text 1 " \"a.txt\"}"`, String.raw`append_text 2 "utable\": \"pwd\"}"`],
  ['commit_part 1 fs.read_file {"path":"a.txt"}', 'commit_part 2 shell.exec {"executable":"pwd"}'],
  [...done, "transcript: text, tool_call, tool_call, tool_result, tool_result, text"],

  ["", "== reasoning"],
  ["(The user wants to know...)( I should consider...)The answer is 42."],
  ["begin_part 1 reasoning", 'append_text 1 "The user wants to know..."'],
  ['append_text 1 " I should consider..."'],
  ['commit_part 1 "The user wants to know... I should consider..."'],
  ["begin_part 2 text", 'append_text 2 "The answer is 42."', 'commit_part 2 "The answer is 42."'],
  ["transcript: text, reasoning, text"],

  ["", "used: 160 in, 40 out", "channel: 17 items, the last model: end", ""],
];
assert.deepEqual(stdout.split("\n"), expected.flat());
assert.equal(stderr, "");
console.log("five sequences, as the provider made them, and three observers that saw each delta");

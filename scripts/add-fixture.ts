/**
 * Adds a vendor's stream to the fixtures of a protocol, or exchanges it. Its scenario is written by
 * hand in scenarios.json of the same folder; `npm run goldens` then writes its golden.
 *
 *     npm run fixture -- openai-chat two-calls recordings/two-calls.sse
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { printSections, readSections } from "../tests/kit/sections.ts";
import { root } from "./workspace.ts";

const [protocol, name, file] = process.argv.slice(2);
if (protocol === undefined || name === undefined || file === undefined) {
  console.error("usage: npm run fixture -- <protocol> <name> <file.sse>");
  process.exitCode = 1;
} else {
  const path = join(root, "packages/providers/fixtures", protocol, "streams.txt");
  const sections = readSections(path).set(name, readFileSync(file));
  writeFileSync(path, printSections(sections));
  console.log(`${path} has ${sections.size} streams`);
}

#!/usr/bin/env node
import { create } from "./create.ts";
import { Refusal } from "./refusal.ts";

try {
  await create(process.argv.slice(2), {
    input: process.stdin,
    output: process.stdout,
    folder: process.cwd(),
    isInteractive: process.stdin.isTTY && process.stdout.isTTY,
  });
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  console.error(`\ncreate-millrace: ${error.message}`);
  process.exitCode = 1;
}

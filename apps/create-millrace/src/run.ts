import { create } from "./create.ts";
import { Refusal } from "./refusal.ts";

/** Runs the creator in this process. A refusal is one line and an exit code. */
export async function run(): Promise<void> {
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
}

// Runs the cases in the runtime that it is started in, and prints a line for each. It ends by itself: a client
// that left a timer or a socket would keep it.
//
//     node | bun | deno run -A  runner.ts <stage as JSON>
import { cases, lastCases, slowCases } from "./cases.ts";
import { kitOf } from "./kit.ts";
import type { Case, Stage } from "./kit.ts";

/** The words of the command line, in any runtime. */
const { argv } = (globalThis as unknown as { process: { argv: readonly string[] } }).process;
const kit = kitOf(JSON.parse(argv.at(-1) ?? "") as Stage); // of our own caller

async function play(all: Readonly<Record<string, Case>>): Promise<void> {
  for (const [name, run] of Object.entries(all)) {
    const began = Date.now();
    try {
      await run(kit);
      console.log(`ok ${name} (${Date.now() - began} ms)`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      console.log(`FAILED ${name}: ${reason.replaceAll("\n", " ").slice(0, 400)}`);
    }
  }
}

await Promise.all([play(slowCases), play(cases)]);
await play(lastCases);
console.log("all cases were run");

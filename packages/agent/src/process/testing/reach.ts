import process from "node:process";

import { runProcess } from "../run-process.ts";

// Runs a script twice by default settings and prints its output. A test starts this program as another user, with
// a key in its environment from the start, because that is what `/proc` shows.
const [, , script = ""] = process.argv;
const { signal } = new AbortController();
for (const command of [1, 2].map(() => ["sh", "-c", script])) {
  const { stdout } = await runProcess(command, { signal });
  process.stdout.write(stdout.head + stdout.tail);
}

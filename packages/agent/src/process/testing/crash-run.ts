import process from "node:process";

import { runProcess } from "../run-process.ts";

// Runs a command and says so; a test kills this process in the middle of it. Arguments: the
// execution, how to isolate it, and the command.
const [, , execution = "", isolation = "", ...command] = process.argv;
await runProcess(command, {
  execution,
  pidNamespace: isolation === "namespace" ? "require" : "off",
  onOutput: ({ text }) => process.stdout.write(text),
  signal: new AbortController().signal,
});

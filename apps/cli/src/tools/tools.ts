import { defineTool } from "@millrace/agent";
import type { Tool } from "@millrace/agent";
import { runProcess } from "@millrace/agent/process";
import type { ProcessOutcome } from "@millrace/agent/process";
import type { Clock } from "@millrace/core/ports";
import type { ToolName } from "../command/arguments.ts";
import { commandSchema, emptySchema } from "./tool-schemas.ts";

const shellSeconds = 120;
const outputBytes = 32 * 1024;

/** The tools by these names. */
export function createTools(
  names: readonly ToolName[],
  { clock, cwd }: { readonly clock: Clock; readonly cwd: string },
): readonly Tool[] {
  const time = defineTool({
    name: "time",
    description: "The current date and time, as ISO 8601 in UTC",
    input: emptySchema,
    effect: "pure",
    run: () => new Date(clock.now()).toISOString(),
  });
  const shell = defineTool({
    name: "shell",
    description:
      "Runs a command with /bin/sh in the user's folder. The user is asked before each one",
    input: commandSchema,
    effect: "effectful",
    approve: "ask",
    limits: { seconds: shellSeconds, outputBytes },
    run: async ({ command }, { append, signal, effectKey }) => {
      const outcome = await runProcess(["/bin/sh", "-c", command], {
        cwd,
        signal,
        execution: effectKey,
        onOutput: ({ text }) => append(text),
      });
      return endingOf(outcome);
    },
  });
  const byName: Readonly<Record<ToolName, Tool>> = { time, shell };
  return names.map((name) => byName[name]);
}

/** How a command ended, in words for the model. Its output is the text of the result. */
function endingOf(outcome: ProcessOutcome): string {
  switch (outcome.ended) {
    case "exited":
      return `exit code ${outcome.code}`;
    case "signalled":
      return `ended by ${outcome.signal}`;
    case "aborted":
      return "stopped";
    case "timed_out":
      return "took too long and was ended";
    case "failed_to_start":
      return `could not be started: ${outcome.cause.message}`;
    default:
      outcome satisfies never;
      return "";
  }
}

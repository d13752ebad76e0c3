import { defineTool } from "@millrace/agent";
import type { Effect, Policy, Schema, Tool, ToolExecution, ToolLimits } from "@millrace/agent";
import { isJsonObject } from "@millrace/core/wire";
import type { Boundaries } from "./boundaries.ts";
import type { Gates } from "./gates.ts";
import type { Tally } from "./tally.ts";

/** A tool whose only effect is a line in a file outside the process. */
export interface ToolPlan {
  readonly name: string;
  readonly effect?: Effect;
  readonly approve?: Policy;
  readonly sequence?: "parallel" | "alone";
  readonly limits?: ToolLimits;
  /** Waits here after its effect. */
  readonly gate?: string;
  /** After its effect: throws, waits until it is aborted, or streams its output. */
  readonly ends?: "throws" | "hangs" | "streams";
  /** So long after its effect it returns. */
  readonly ms?: number;
  /** A client of the session answers the call. */
  readonly client?: true;
}

export interface ToolPorts {
  readonly boundaries: Boundaries;
  readonly gates: Gates;
  readonly effects: Tally;
}

/** What tools here take: one text. */
export interface What {
  readonly what: string;
}

export function makeTool(plan: ToolPlan, ports: ToolPorts): Tool {
  const { name, effect, approve, sequence, limits } = plan;
  const settings = { name, effect, approve, sequence, limits, input: whatSchema };
  if (plan.client === true) return defineTool({ ...settings, output: whatSchema, run: "client" });
  return defineTool({ ...settings, run: (input, execution) => run(plan, ports, input, execution) });
}

async function run(
  { name, gate, ends, ms }: ToolPlan,
  { boundaries, gates, effects }: ToolPorts,
  { what }: What,
  { effectKey, signal, append, progress }: ToolExecution,
): Promise<unknown> {
  boundaries.cross("before an effect");
  effects.add(effectKey);
  boundaries.cross("after an effect");
  progress({ message: `${name} at work` });
  if (gate !== undefined) await gates.pass(gate, signal);
  if (ms !== undefined) await new Promise((resolve) => setTimeout(resolve, ms));
  if (ends === "throws") throw new Error(`${name} can't ${what}`);
  if (ends === "hangs") await until(signal);
  if (ends === "streams") for (const letter of what) append(letter);
  signal.throwIfAborted();
  boundaries.cross("before a tool returns");
  return ends === "streams" ? undefined : { did: what };
}

function until(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

const whatJson = {
  type: "object",
  properties: { what: { type: "string" } },
  required: ["what"],
  additionalProperties: false,
};

/** An object with one text, `what`. */
export const whatSchema: Schema<What> = {
  "~standard": {
    version: 1,
    vendor: "crash",
    validate: (value) =>
      isWhat(value) ? { value } : { issues: [{ message: "a text", path: ["what"] }] },
    jsonSchema: { input: () => whatJson, output: () => whatJson },
  },
};

function isWhat(value: unknown): value is What {
  return (
    isJsonObject(value) && typeof value["what"] === "string" && Object.keys(value).length === 1
  );
}

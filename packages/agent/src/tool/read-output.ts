import type { Item } from "@millrace/core";
import { readOutput, readOutputDescription } from "../context/read-output.ts";
import type { OutputRange } from "../context/read-output.ts";
import type { Checked, Issue, Schema } from "@millrace/core/schema";
import { defineTool } from "../definition/tool.ts";
import type { AnyTool } from "../definition/tool.ts";

/**
 * The tool by which a model reads what was left out of a long result. `items` gives all items of the
 * session, also those that a summary covers.
 */
export function readOutputTool(items: () => readonly Item[]): AnyTool {
  return defineTool({
    name: readOutputDescription.name,
    description: readOutputDescription.description,
    input: outputRange,
    effect: "pure",
    run: (range) => readOutput(items(), range),
  });
}

/** Written by hand, so that a tool which is always there needs no schema library. */
const outputRange: Schema<OutputRange> = {
  "~standard": {
    version: 1,
    vendor: "millrace",
    validate: checkRange,
    jsonSchema: { input: rangeSchema, output: rangeSchema },
  },
};

function rangeSchema(): Record<string, unknown> {
  return { ...(readOutputDescription.input as object) }; // it is written down as an object
}

function checkRange(value: unknown): Checked<OutputRange> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { issues: [{ message: "must be an object" }] };
  }
  const { callId, offset, length, ...rest } = value as Record<string, unknown>; // it is an object
  const issues: Issue[] = Object.keys(rest).map((key) => ({
    message: "is not known",
    path: [key],
  }));
  if (typeof callId !== "string") issues.push({ message: "must be a string", path: ["callId"] });
  if (!isCount(offset, 0)) issues.push({ message: "must be a whole number", path: ["offset"] });
  if (!isCount(length, 1)) {
    issues.push({ message: "must be a whole number of 1 or more", path: ["length"] });
  }
  if (issues.length > 0) return { issues };
  return { value: { callId, offset, length } as OutputRange }; // just checked
}

function isCount(value: unknown, least: number): boolean {
  return value === undefined || (Number.isSafeInteger(value) && Number(value) >= least);
}

import { redactedMessage } from "@millrace/core/secrets";
import { describeIssues, parseAnswer } from "@millrace/core/schema";
import type { Schema } from "@millrace/core/schema";
import type { WorkHost } from "./host.ts";

/** Whether the answer of a run has the requested shape. */
export type OutputVerdict =
  | { readonly state: "unchecked" | "valid" }
  | { readonly state: "invalid"; readonly message: string };

/** An answer parsed by the requested schema, or the problem with it. */
export type ReadOutput =
  | { readonly valid: true; readonly output: unknown }
  | { readonly valid: false; readonly message: string };

/** Parses an answer by the requested schema. Never throws: if the schema throws, the answer is invalid. */
export async function readOutput(schema: Schema, text: string): Promise<ReadOutput> {
  const parsed = parseAnswer(text);
  if (!parsed.ok) {
    return { valid: false, message: `the answer is not one JSON value: ${parsed.fault.code}` };
  }
  try {
    const checked = await schema["~standard"].validate(parsed.value);
    if (checked.issues === undefined) return { valid: true, output: checked.value };
    return { valid: false, message: describeIssues(checked.issues) };
  } catch (error) {
    const message = `the schema could not check the answer: ${redactedMessage(error)}`;
    return { valid: false, message };
  }
}

/** Checks the answer of the current run. Valid if this process has no schema for it. */
export async function checkOutput({ journal, runOptions }: WorkHost): Promise<OutputVerdict> {
  const { run } = journal.standing;
  const schema = run === undefined ? undefined : runOptions(run.runId).output;
  if (run === undefined || schema === undefined) return { state: "valid" };
  const read = await readOutput(schema, journal.runs.get(run.runId)?.text ?? "");
  return read.valid ? { state: "valid" } : { state: "invalid", message: read.message };
}

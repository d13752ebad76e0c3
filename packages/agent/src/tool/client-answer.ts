import type { Json } from "@millrace/core";
import { describeIssues } from "@millrace/core/schema";
import { describe } from "./output-json.ts";
import { notJson } from "./run-tool.ts";
import type { ToolOutcome } from "./run-tool.ts";
import type { AnyTool } from "../definition/tool.ts";

/** What a client's answer to a call comes to: what the tool's output schema makes of it, as JSON. */
export async function checkAnswer(tool: AnyTool, output: Json): Promise<ToolOutcome> {
  try {
    const checked = (await tool.output?.["~standard"].validate(output)) ?? { value: output };
    if (checked.issues === undefined) {
      const { json, problem } = describe(checked.value);
      if (problem !== undefined) return { status: "failed", text: notJson(problem) };
      return { status: "ok", text: JSON.stringify(json), output: json };
    }
    const wrong = describeIssues(checked.issues);
    return { status: "failed", text: `the client's answer has not the tool's shape:\n${wrong}` };
  } catch {
    return { status: "failed", text: "the client's answer could not be checked" };
  }
}

import type { Json } from "@millrace/core";
import { describeIssues } from "../schema/schema.ts";
import type { ToolOutcome } from "./run-tool.ts";
import type { AnyTool } from "../definition/tool.ts";

/** What a client's answer to a call comes to: the tool's output schema has the last word. */
export async function checkAnswer(tool: AnyTool, output: Json): Promise<ToolOutcome> {
  try {
    const checked = await tool.output?.["~standard"].validate(output);
    if (checked?.issues === undefined)
      return { status: "ok", text: JSON.stringify(output), output };
    const wrong = describeIssues(checked.issues);
    return { status: "failed", text: `the client's answer has not the tool's shape:\n${wrong}` };
  } catch {
    return { status: "failed", text: "the client's answer could not be checked" };
  }
}

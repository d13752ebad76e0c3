import type { ItemId, Json } from "@millrace/core";
import { answerInputIdOf } from "../loop/ids.ts";
import type { CheckedAnswer } from "../loop/fact-context.ts";
import type { CallStanding } from "../loop/state.ts";
import type { WorkHost } from "./host.ts";
import { describeIssues } from "@millrace/core/schema";
import { describe } from "../tool/output-json.ts";
import { notJson } from "../tool/run-tool.ts";
import type { ToolOutcome } from "../tool/run-tool.ts";
import type { AnyTool } from "../definition/tool.ts";

/** Checks the queued answers of clients against the output schemas of their tools. */
export async function checkAnswers(
  { agent, journal }: WorkHost,
  calls: readonly CallStanding[],
): Promise<ReadonlyMap<ItemId, CheckedAnswer>> {
  const checked = new Map<ItemId, CheckedAnswer>();
  const { queue } = journal.state;
  for (const { itemId, tool: name } of calls) {
    const answer = answerInputIdOf(itemId);
    const input = queue.find(({ inputId }) => inputId === answer)?.input;
    const tool = agent.tools.get(name);
    if (input?.kind !== "answer" || tool === undefined) checked.set(itemId, unreadable);
    else if ("error" in input) checked.set(itemId, { status: "failed", text: input.error });
    else checked.set(itemId, await checkAnswer(tool, input.output));
  }
  return checked;
}

/** For an input that has the id of an answer and another kind. The call must still be settled. */
const unreadable: CheckedAnswer = {
  status: "failed",
  text: "the client's answer could not be read",
};

/** What a client's answer to a call comes to: what the tool's output schema makes of it, as JSON. */
async function checkAnswer(tool: AnyTool, output: Json): Promise<ToolOutcome> {
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

import { callId, sessionId } from "@millrace/core/writing";

import { describeIssues } from "@millrace/core/schema";
import type { AnyInput } from "../describe-tools.ts";
import type { Tool, ToolExecution } from "../../definition/tool.ts";

/** What a call came to, for tests. */
export interface Called {
  readonly output: unknown;
  readonly text: string;
  readonly progress: readonly string[];
}

export interface CallSettings {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((message: string) => void) | undefined;
}

/** Calls a tool as an agent does: checks the input, runs it, checks the output. Throws what the tool throws. */
export async function call(
  tools: readonly Tool<string, AnyInput>[],
  name: string,
  input: AnyInput = {},
  settings: CallSettings = {},
): Promise<Called> {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool === undefined || tool.run === "client") throw new Error(`no tool ${name}`);
  const checked = await tool.input["~standard"].validate(input);
  if (checked.issues !== undefined) throw new Error(describeIssues(checked.issues));
  const progress: string[] = [];
  let text = "";
  const execution = {
    callId: callId("call"),
    effectKey: "effect",
    session: { id: sessionId("session"), tenant: "", user: "", metadata: {} },
    progress: ({ message }: { readonly message: string }) => {
      progress.push(message);
      settings.onProgress?.(message);
    },
    append: (more: string) => {
      text += more;
    },
    signal: settings.signal ?? new AbortController().signal,
  };
  // No tool of a server looks at the host.
  const output = await tool.run(input, execution as unknown as ToolExecution);
  const fit = await tool.output?.["~standard"].validate(output);
  if (fit?.issues !== undefined) throw new Error(describeIssues(fit.issues));
  return { output, text: typeof output === "string" ? text + output : text, progress };
}

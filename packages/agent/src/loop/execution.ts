import { abortedCause, partId } from "@millrace/core";
import type {
  BodyOf,
  Ending,
  InputId,
  Item,
  Json,
  JsonObject,
  RunId,
  ToolResultPart,
  TurnId,
} from "@millrace/core";
import type { Assessed } from "../tool/assess.ts";
import { checkAnswer } from "../tool/client-answer.ts";
import type { ToolHost } from "../tool/host.ts";
import { runTool } from "../tool/run-tool.ts";
import type { ToolOutcome } from "../tool/run-tool.ts";
import type { AnyTool } from "../tool/tool.ts";
import type { Epochs, Host } from "./host.ts";
import { isLane, openItemLane } from "./lane.ts";
import type { ItemLane } from "./lane.ts";
import type { CallStanding } from "./state.ts";
import { Fenced } from "./host.ts";
import { effectKeyOf } from "./ids.ts";

export interface ExecutionToDo {
  readonly runId: RunId;
  readonly turnId: TurnId;
  readonly call: CallStanding;
  readonly tool: AnyTool;
  /** What the model asked for, as it was shown and approved. */
  readonly input: JsonObject;
  readonly assessed: Assessed;
  readonly signal: AbortSignal;
  readonly toolHost: (lane: ItemLane) => ToolHost;
  /** The answer of whoever watches, once it is there; nothing if the signal is aborted first. */
  readonly answered: (
    call: CallStanding,
    signal: AbortSignal,
  ) => Promise<{ readonly inputId: InputId; readonly output: Json } | undefined>;
}

/**
 * Carries out one call: the intent is stored, then the tool runs in its own lane, then its result and
 * the settlement are stored as one. Whatever the tool does, the call gets exactly one answer.
 */
export async function execute(host: Host, epochs: Epochs, todo: ExecutionToDo): Promise<void> {
  const { runId, turnId, call, tool, input } = todo;
  const { callId, itemId, lane } = call;
  const epoch = epochs.next();
  const effectKey = effectKeyOf(host.uid, itemId);
  const childSessionId = tool.childSession?.(effectKey);
  const intent: BodyOf<"tool_execution_started"> = {
    type: "tool_execution_started",
    runId,
    turnId,
    callId,
    tool: tool.name,
    input,
    itemId,
    lane,
    epoch,
    ...(childSessionId === undefined ? {} : { childSessionId }),
  };
  const place = {
    runId,
    turnId,
    itemId,
    lane,
    epoch,
    author: "tool",
    callId,
    tool: tool.name,
    intent,
  } as const;
  const opened = await openItemLane(host, place);
  if (!isLane(opened)) return;
  const id = partId("p1");
  opened.write({ op: "begin_part", partId: id, kind: "tool_result", callId, tool: tool.name });
  const outcome = await outcomeOf(host, opened, todo, effectKey);
  if (todo.signal.reason instanceof Fenced) {
    await opened.drop();
    throw todo.signal.reason;
  }
  const { status, inputId } = outcome;
  const item = finish(opened, itemId, {
    id,
    callId,
    tool: tool.name,
    kind: "tool_result",
    ...outcome.result,
  });
  const settled = {
    type: "tool_execution_finished",
    runId,
    turnId,
    callId,
    tool: tool.name,
    status,
  } as const;
  await opened.commit(item, {
    settlement: [settled],
    ...(inputId === undefined ? {} : { inputId }),
  });
}

interface Outcome {
  readonly status: ToolOutcome["status"];
  readonly result: ToolOutcome;
  readonly inputId?: InputId;
}

async function outcomeOf(
  host: Host,
  lane: ItemLane,
  todo: ExecutionToDo,
  effectKey: string,
): Promise<Outcome> {
  const { call, tool, assessed, signal } = todo;
  if (tool.run === "client") {
    const answer = await todo.answered(call, signal);
    const result =
      answer === undefined
        ? {
            status: "aborted" as const,
            text: "the run was stopped before a client answered this call",
          }
        : await checkAnswer(tool, answer.output);
    return {
      status: result.status,
      result,
      ...(answer === undefined ? {} : { inputId: answer.inputId }),
    };
  }
  const id = partId("p1");
  const result = await runTool({
    tool,
    input: assessed.input,
    execution: { callId: call.callId, effectKey, session: host.info, "~host": todo.toolHost(lane) },
    signal,
    clock: host.clock,
    seconds: tool.limits.seconds ?? defaultToolSeconds,
    emit: (text) => void lane.write({ op: "append_text", partId: id, chunk: text }),
    tell: (message) => lane.tell({ type: "tool_execution_update", callId: call.callId, message }),
  });
  return { status: result.status, result };
}

/** Writes what has not been streamed, and makes the item of it. */
function finish(lane: ItemLane, itemId: Item["id"], part: ToolResultPart): Item {
  const ending: Ending =
    part.status === "aborted" ? { stop: "aborted", cause: abortedCause } : { stop: "end" };
  const fault = lane.write({ op: "commit_part", partId: part.id, part });
  if (fault === undefined) return { id: itemId, author: "tool", parts: [part], ...ending };
  // The result breaks a limit of what can be stored. The call is answered all the same.
  const text = `the tool ran, but its result can't be kept: ${fault.message}`;
  const { output: _, ...rest } = part;
  return { id: itemId, author: "tool", parts: [{ ...rest, status: "failed", text }], ...ending };
}

/** How long a tool may take that does not say. */
const defaultToolSeconds = 120;

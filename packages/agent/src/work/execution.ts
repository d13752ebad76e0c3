import { abortedCause } from "@millrace/core/ports";
import { partId } from "@millrace/core/writing";
import type { Item, JsonObject, RunId, ToolResultPart, TurnId } from "@millrace/core";
import type { BodyOf, Ending } from "@millrace/core/writing";
import type { ToolHost } from "../definition/tool-host.ts";
import type { AnyTool } from "../definition/tool.ts";
import type { ReadyCall } from "../loop/action.ts";
import { effectKeyOf } from "../loop/ids.ts";
import { runTool } from "../tool/run-tool.ts";
import type { ToolOutcome } from "../tool/run-tool.ts";
import { Fenced } from "./host.ts";
import type { Epochs, WorkHost } from "./host.ts";
import { isLane, openItemLane } from "./item-lane.ts";
import type { ItemLane } from "./item-lane.ts";

export interface ExecutionToDo {
  readonly runId: RunId;
  readonly turnId: TurnId;
  readonly call: ReadyCall;
  readonly tool: AnyTool;
  /** What the model asked for, as it was shown and approved. */
  readonly asked: JsonObject;
  /** What the tool's schema made of it. */
  readonly input: unknown;
  readonly signal: AbortSignal;
  readonly toolHost: (lane: ItemLane) => ToolHost;
}

/**
 * Carries out one call: the intent is stored, then the tool runs in its own lane, then its result and
 * the settlement are stored as one. Whatever the tool does, the call gets exactly one answer.
 */
export async function execute(host: WorkHost, epochs: Epochs, todo: ExecutionToDo): Promise<void> {
  const { runId, turnId, call, tool, asked: input } = todo;
  const { callId, itemId, lane } = call;
  const epoch = epochs.next();
  const effectKey = effectKeyOf(host.uid, itemId);
  const childSessionId = tool.childSession?.(effectKey);
  const place = { runId, turnId, itemId, lane, epoch, callId, tool: tool.name } as const;
  const intent: BodyOf<"tool_execution_started"> = {
    type: "tool_execution_started",
    ...place,
    input,
    ...(childSessionId === undefined ? {} : { childSessionId }),
  };
  const opened = await openItemLane(host, { ...place, author: "tool", intent });
  if (!isLane(opened)) return; // an earlier try stored its answer
  const id = partId("p1");
  opened.write({ op: "begin_part", partId: id, kind: "tool_result", callId, tool: tool.name });
  const outcome = await run(host, opened, todo, effectKey);
  if (todo.signal.reason instanceof Fenced) {
    await opened.drop();
    throw todo.signal.reason;
  }
  const { status } = outcome;
  const part = { id, callId, tool: tool.name, kind: "tool_result", ...outcome } as const;
  const settled = { type: "tool_execution_finished", runId, turnId, callId } as const;
  await opened.commit(finish(opened, itemId, part), {
    settlement: [{ ...settled, tool: tool.name, status }],
  });
}

async function run(
  host: WorkHost,
  lane: ItemLane,
  { call, tool, input, signal, toolHost }: ExecutionToDo,
  effectKey: string,
): Promise<ToolOutcome> {
  const id = partId("p1");
  const { callId } = call;
  return await runTool({
    tool,
    input,
    execution: { callId, effectKey, session: host.info, "~host": toolHost(lane) },
    signal,
    clock: host.clock,
    seconds: tool.limits.seconds ?? defaultToolSeconds,
    emit: (text) => void lane.write({ op: "append_text", partId: id, chunk: text }),
    tell: (message) => lane.tell({ type: "tool_execution_update", callId, message }),
  });
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

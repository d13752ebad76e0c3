import { abortedCause } from "@millrace/core/model";
import { partId } from "@millrace/core/writing";
import type {
  FilePart,
  Item,
  JsonObject,
  MediaPart,
  RunId,
  ToolResultPart,
  TurnId,
} from "@millrace/core";
import type { BodyOf, Ending, Fault } from "@millrace/core/writing";
import type { ToolHost } from "../definition/tool-host.ts";
import type { AnyTool, ToolAttachment } from "../definition/tool.ts";
import type { ReadyCall } from "../loop/action.ts";
import { effectKeyOf } from "../loop/ids.ts";
import type { Standing } from "../loop/state.ts";
import { defaultOutputBytes, shownOutput } from "../context/outputs.ts";
import { runTool } from "../tool/run-tool.ts";
import type { ToolOutcome } from "../tool/run-tool.ts";
import { Fenced } from "./host.ts";
import type { Epochs, WorkHost } from "./host.ts";
import { isLane, openCallLane } from "./item-lane.ts";
import type { Ahead, ItemLane } from "./item-lane.ts";
import { readableItems } from "./tools.ts";

export interface ExecutionToDo {
  readonly runId: RunId;
  readonly turnId: TurnId;
  readonly call: ReadyCall;
  readonly tool: AnyTool;
  /** The input as the model wrote it, and as a person approved it. */
  readonly asked: JsonObject;
  /** The same input as the tool's schema parsed it. */
  readonly input: unknown;
  readonly signal: AbortSignal;
  readonly toolHost: (lane: ItemLane) => ToolHost;
  readonly ahead?: Ahead | undefined;
}

/**
 * Runs one call. Stores the intent, runs the tool with a lane of its own, then stores the result and the
 * settlement in one transaction. The call gets exactly one answer, also if the tool throws, ignores its
 * signal or returns what can't be stored. Throws `Fenced` if another driver took the session.
 */
export async function execute(host: WorkHost, epochs: Epochs, todo: ExecutionToDo): Promise<void> {
  const { runId, turnId, call, tool, asked: input } = todo;
  const { callId, itemId, lane } = call;
  const epoch = epochs.next(itemId);
  const effectKey = effectKeyOf(host.uid, itemId);
  const childSessionId = tool.childSession?.(effectKey);
  const place = { runId, turnId, itemId, lane, epoch, callId, tool: tool.name } as const;
  const intent: BodyOf<"tool_execution_started"> = {
    type: "tool_execution_started",
    ...place,
    input,
    hash: call.hash,
    ...(childSessionId === undefined ? {} : { childSessionId }),
  };
  const mayBegin = (): boolean => mayStart(host.journal.standing, call, tool);
  const opened = await openCallLane(host, { ...place, author: "tool", intent }, mayBegin);
  if (!isLane(opened)) return; // an earlier execution stored the answer, or may still store it
  const id = partId("p1");
  opened.write({ op: "begin_part", partId: id, kind: "tool_result", callId, tool: tool.name });
  const { attachments = [], ...outcome } = await run(host, opened, todo, effectKey);
  if (todo.signal.reason instanceof Fenced) {
    await opened.drop();
    throw todo.signal.reason;
  }
  const { status } = outcome;
  const result = { id, callId, tool: tool.name, kind: "tool_result", ...outcome } as const;
  const limit = tool.limits.outputBytes ?? defaultOutputBytes;
  const shown = shownOutput(result, limit, readableItems(host.journal), itemId);
  const part = shown === undefined ? result : { ...result, metadata: { shown } };
  const settled = { type: "tool_execution_finished", runId, turnId, callId } as const;
  await opened.commit(finish(opened, itemId, part, attachments), {
    settlement: [{ ...settled, tool: tool.name, status }],
    ahead: todo.signal.aborted ? undefined : todo.ahead,
  });
}

/** Whether the call has no result, and was not begun or may be begun again. */
function mayStart({ run }: Standing, { itemId }: ReadyCall, { effect }: AnyTool): boolean {
  const now = run?.turn?.reply?.calls.find((one) => one.itemId === itemId);
  if (now === undefined || now.settled) return false;
  return now.started === undefined || effect !== "effectful";
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
    report: (message) => lane.publish({ type: "tool_execution_update", callId, message }),
  });
}

/**
 * Commits the result part, with output that was not streamed, and what the tool attached, and returns
 * their item.
 */
function finish(
  lane: ItemLane,
  itemId: Item["id"],
  part: ToolResultPart,
  attachments: readonly ToolAttachment[],
): Item {
  const ending: Ending =
    part.status === "aborted" ? { stop: "aborted", cause: abortedCause } : { stop: "end" };
  const attached = attachments.map(attachedPart);
  let fault = lane.write({ op: "commit_part", partId: part.id, part });
  for (const each of attached) fault ??= writeAttached(lane, each);
  if (fault === undefined) {
    return { id: itemId, author: "tool", parts: [part, ...attached], ...ending };
  }
  // The result exceeds a limit of the store. The call still needs an answer, so it fails without output.
  const text = `the tool ran, but its result can't be kept: ${fault.message}`;
  const { output: _, ...rest } = part;
  return { id: itemId, author: "tool", parts: [{ ...rest, status: "failed", text }], ...ending };
}

type AttachedPart = (MediaPart | FilePart) & { readonly bytes: Uint8Array };

/** The part of an attachment: media for images, sounds and films, and a file for everything else. */
function attachedPart({ mediaType, bytes, name }: ToolAttachment, index: number): AttachedPart {
  const id = partId(`p${index + 2}`);
  if (/^(image|audio|video)\//.test(mediaType)) return { kind: "media", id, mediaType, bytes };
  const given = (name ?? `file-${index + 1}`).toWellFormed();
  return { kind: "file", id, name: given, mediaType, bytes };
}

function writeAttached(lane: ItemLane, part: AttachedPart): Fault | undefined {
  const { id, mediaType, bytes } = part;
  const opening =
    part.kind === "media"
      ? ({ kind: "media", mediaType } as const)
      : ({ kind: "file", name: part.name, mediaType } as const);
  return (
    lane.write({ op: "begin_part", partId: id, ...opening }) ??
    lane.write({ op: "append_bytes", partId: id, chunk: bytes }) ??
    lane.write({ op: "commit_part", partId: id, part })
  );
}

/** The time limit of a tool that sets none. */
const defaultToolSeconds = 120;

import { encode } from "./encode.ts";
import type { Batch } from "../event/batch.ts";
import type { Fact } from "../event/event.ts";
import type { Snapshot } from "../event/snapshot.ts";
import type {
  OpenRun,
  OpenTurn,
  Approval,
  ClosedLane,
  Earlier,
  QueuedInput,
} from "../event/state.ts";
import { isJsonObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { parseJsonText } from "../parse-json.ts";
import { item, stopReason, usage } from "./content-codec.ts";
import {
  approvalRequested,
  approvalResolved,
  batch,
  fact,
  input,
  inputs,
  items,
  runFinished,
  runs,
  sessions,
  summary,
  toolExecutionStarted,
  trace,
  turns,
  version,
} from "./event-codec.ts";
import {
  count,
  decodeBy,
  flag,
  incarnation,
  list,
  malformed,
  named,
  object,
  optional,
  sessionUid,
} from "./shape.ts";
import type { Decoded, Shape } from "./shape.ts";
import { streamEnded } from "./stream-ended.ts";
import type { StreamEnded } from "./stream-ended.ts";

/** What travels between a session and its readers. The names on the wire are those of the types. */
export type Message = Fact | Batch | Snapshot;

/** One message as one line of JSON, whole: it can be read without knowing what came before it. */
export function encodeMessage(message: Message | StreamEnded): string {
  return JSON.stringify(toJson(message));
}

/** Reads what `encodeMessage` wrote of a session, also by a later release of the same version. Never throws. */
export function decodeMessage(line: string): Decoded<Message> {
  return decodeBy(anyMessage, line);
}

const anyMessage: Pick<Shape<Message>, "decode"> = {
  decode: (line, path) => {
    const value = parseLine(line as string);
    checkVersion(value);
    return shapeOf(value).decode(value, path);
  },
};

/** The JSON of a line from outside. */
export function parseLine(line: string): unknown {
  try {
    return parseJsonText(line);
  } catch {
    return malformed("", "JSON", "not_json");
  }
}

/** A newer version may have any form, so the version is looked at before all other fields. */
export function checkVersion(value: unknown): void {
  if (isJsonObject(value) && typeof value["v"] === "number") version.decode(value["v"], "v");
}

/** Which of the three it is, by its type. Whatever else it is must be a fact. */
export function shapeOf(value: unknown): Shape<Message> {
  const type = isJsonObject(value) ? value["type"] : undefined;
  return type === "batch" ? batch : type === "snapshot" ? snapshotShape : fact;
}

function toJson(message: Message | StreamEnded): JsonObject {
  if ("n" in message) return encode(fact, message);
  if ("first" in message) return encode(batch, message);
  return "closedLanes" in message ? encode(snapshotShape, message) : encode(streamEnded, message);
}

const activeRun = object<OpenRun>({
  runId: runs,
  turn: optional(
    object<OpenTurn>({
      turnId: turns,
      reply: optional(items),
      stop: optional(stopReason),
    }),
  ),
  aborting: flag,
  released: optional(incarnation),
});

const plainSnapshot = object<Snapshot>({
  v: version,
  sessionId: sessions,
  uid: sessionUid,
  head: count,
  incarnation,
  closed: count,
  closedLanes: list(object<ClosedLane>({ lane: count, epoch: count })),
  lanes: list(batch),
  items: list(item),
  earlier: optional(object<Earlier>({ count, before: count })),
  queue: list(
    object<QueuedInput>({
      inputId: inputs,
      input: input as unknown as Shape<QueuedInput["input"]>,
      trace: optional(trace),
    }),
  ),
  run: optional(activeRun),
  ended: optional(runFinished),
  executions: list(toolExecutionStarted),
  approvals: list(
    object<Approval>({ asked: approvalRequested, answer: optional(approvalResolved) }),
  ),
  compacting: flag,
  compactions: list(summary),
  usage,
});

export const snapshotShape: Shape<Snapshot> = named("snapshot", plainSnapshot);

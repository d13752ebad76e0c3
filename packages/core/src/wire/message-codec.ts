import type { Batch } from "../event/batch.ts";
import { schemaVersion } from "../event/event.ts";
import type { Fact } from "../event/event.ts";
import type { Snapshot } from "../event/snapshot.ts";
import type { OpenRun, OpenTurn, Approval, ClosedLane, QueuedInput } from "../event/state.ts";
import { sessionUid } from "../ids.ts";
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
  turns,
  version,
} from "./event-codec.ts";
import { count, decodeBy, flag, id, incarnation, list, object, optional } from "./shape.ts";
import type { Decoded, Shape } from "./shape.ts";

/** What travels between a session and its readers. The names on the wire are those of the types. */
export type Message = Fact | Batch | Snapshot;

/** One message as one line of JSON. */
export function encodeMessage(message: Message): string {
  return JSON.stringify(toJson(message));
}

/** Reads what `encodeMessage` wrote, also by a later release of the same version. Never throws. */
export function decodeMessage(line: string): Decoded<Message> {
  let value: unknown;
  try {
    value = parseJsonText(line);
  } catch {
    return {
      ok: false,
      fault: { code: "not_json", path: "", message: "the record: expected JSON" },
    };
  }
  return decodeBy(messageShape(value), value);
}

/** Which of the three it is. A newer version may have any form, so the version is looked at first. */
function messageShape(value: unknown): Pick<Shape<Message>, "decode"> {
  if (!isJsonObject(value)) return fact;
  if (typeof value["v"] === "number" && value["v"] !== schemaVersion) return versioned;
  if (Object.hasOwn(value, "n")) return fact;
  if (Object.hasOwn(value, "first")) return batch;
  return Object.hasOwn(value, "closedLanes") ? snapshotShape : fact;
}

/** Refuses a record of another version for its version. */
const versioned = object<Pick<Message, "v">>({ v: version }) as unknown as Shape<Message>;

function toJson(message: Message): JsonObject {
  if ("n" in message) return fact.encode(message);
  return "first" in message ? batch.encode(message) : snapshotShape.encode(message);
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

const snapshotShape = object<Snapshot>({
  v: version,
  sessionId: sessions,
  uid: id(sessionUid),
  head: count,
  incarnation,
  closed: count,
  closedLanes: list(object<ClosedLane>({ lane: count, epoch: count })),
  lanes: list(batch),
  items: list(item),
  queue: list(
    object<QueuedInput>({
      inputId: inputs,
      input: input as unknown as Shape<QueuedInput["input"]>,
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

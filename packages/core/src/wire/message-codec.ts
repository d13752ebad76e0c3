import type { Batch } from "../event/batch.ts";
import type { Fact } from "../event/event.ts";
import type { Snapshot } from "../event/snapshot.ts";
import type { ActiveRun, Approval, ClosedLane, Compaction, QueuedInput } from "../event/state.ts";
import { inputId, itemId, runId, sessionId, sessionUid, turnId } from "../ids.ts";
import type { JsonObject } from "../json.ts";
import { item, stopReason, usage } from "./content-codec.ts";
import {
  approvalRequested,
  approvalResolved,
  batch,
  fact,
  input,
  runFinished,
  toolExecutionStarted,
  version,
} from "./event-codec.ts";
import { count, decodeBy, flag, id, isRecord, list, object, optional } from "./shape.ts";
import type { Decoded, Shape } from "./shape.ts";

/** What travels between a session and its readers. The names on the wire are those of the types. */
export type Message = Fact | Batch | Snapshot;

/** One message as one line of JSON. */
export function encodeMessage(message: Message): string {
  return JSON.stringify(toJson(message));
}

/** Reads what `encodeMessage` wrote, by this version or an older or newer one. Never throws. */
export function decodeMessage(line: string): Decoded<Message> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return {
      ok: false,
      fault: { code: "not_json", path: "", message: "the record: expected JSON" },
    };
  }
  if (!isRecord(value)) return decodeBy(fact, value);
  // Each of the three has a field that neither of the others has.
  if (Object.hasOwn(value, "first")) return decodeBy<Message>(batch, value);
  return Object.hasOwn(value, "closedLanes")
    ? decodeBy<Message>(snapshotShape, value)
    : decodeBy<Message>(fact, value);
}

function toJson(message: Message): JsonObject {
  if ("n" in message) return fact.encode(message);
  return "first" in message ? batch.encode(message) : snapshotShape.encode(message);
}

const snapshotShape = object<Snapshot>({
  v: version,
  sessionId: id(sessionId),
  uid: id(sessionUid),
  head: count,
  incarnation: count,
  closed: count,
  closedLanes: list(object<ClosedLane>({ lane: count, epoch: count })),
  lanes: list(batch),
  items: list(item),
  queue: list(
    object<QueuedInput>({
      inputId: id(inputId),
      input: input as unknown as Shape<QueuedInput["input"]>,
    }),
  ),
  run: optional(activeRun()),
  ended: optional(runFinished),
  executions: list(toolExecutionStarted),
  approvals: list(approval()),
  compacting: flag,
  compactions: list(
    object<Compaction>({ itemId: id(itemId), first: id(itemId), last: id(itemId) }),
  ),
  usage,
});

/** In memory these have fields that are there and undefined; on the wire such a field is left out. */
function activeRun(): Shape<ActiveRun> {
  const shape = object<{
    runId: ActiveRun["runId"];
    turn?: { turnId: Turn["turnId"]; stop?: Exclude<Turn["stop"], undefined> };
    aborting: boolean;
  }>({
    runId: id(runId),
    turn: optional(
      object<{ turnId: Turn["turnId"]; stop?: Exclude<Turn["stop"], undefined> }>({
        turnId: id(turnId),
        stop: optional(stopReason),
      }),
    ),
    aborting: flag,
  });
  return {
    encode: shape.encode as Shape<ActiveRun>["encode"],
    decode: (value, path) => {
      const { turn, ...run } = shape.decode(value, path);
      return {
        ...run,
        turn: turn === undefined ? undefined : { turnId: turn.turnId, stop: turn.stop },
      };
    },
  };
}
type Turn = Exclude<ActiveRun["turn"], undefined>;

function approval(): Shape<Approval> {
  const shape = object<{
    asked: Approval["asked"];
    answer?: Exclude<Approval["answer"], undefined>;
  }>({
    asked: approvalRequested,
    answer: optional(approvalResolved),
  });
  return {
    encode: shape.encode as Shape<Approval>["encode"],
    decode: (value, path) => ({ answer: undefined, ...shape.decode(value, path) }),
  };
}

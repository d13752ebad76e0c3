import { apply } from "../event/apply.ts";
import type { Missing } from "../event/apply.ts";
import type { Batch } from "../event/batch.ts";
import { cursorOf } from "../event/cursor.ts";
import type { Cursor } from "../event/cursor.ts";
import type { Fact } from "../event/event.ts";
import { restore } from "../event/snapshot.ts";
import type { Snapshot } from "../event/snapshot.ts";
import { closedEpoch, findLane } from "../event/state.ts";
import type { SessionState } from "../event/state.ts";
import { isJsonObject } from "../json.ts";
import { decodeCursor, encodeCursor } from "./cursor-codec.ts";
import { checkVersion, parseLine, shapeOf } from "./message-codec.ts";
import { decodeBy } from "./shape.ts";
import type { WireFault } from "./shape.ts";
import { stepOf } from "./step-reader.ts";
import { streamEnded } from "./stream-ended.ts";
import type { StreamEnded } from "./stream-ended.ts";

/** What became of one event of a stream. Only `state` is new; where it is missing, nothing changed. */
export type Received =
  | {
      readonly outcome: "applied" | "duplicate" | "stale";
      readonly state: SessionState;
      /** What its lines stand for: one whole message, or one or more of steps. */
      readonly messages: readonly (Fact | Batch)[];
    }
  | {
      readonly outcome: "restored";
      readonly state: SessionState;
      readonly messages: readonly [Snapshot];
    }
  /** Lost, doubled or out of order: the reader takes nothing more, and joins anew with its cursor. */
  | { readonly outcome: "gap"; readonly missing: Missing }
  /** Not to be read. The reader does as after a gap; if it comes again, without a cursor. */
  | { readonly outcome: "refused"; readonly fault: WireFault }
  | { readonly outcome: "ended"; readonly ended: StreamEnded }
  /** A message of a later release that is not about the session's state. */
  | { readonly outcome: "ignored" };

/**
 * Takes the data of one event of a stream, a whole message or steps, one a line, with the `id` it came
 * with. Steps are taken all or not at all: after them the reader must stand exactly at the id; after a whole message not before it (the ids of a welcome lag). Without a
 * state only a snapshot can be taken. Never throws.
 */
export function receive(state: SessionState | undefined, data: string, id: string): Received {
  const read = decodeBy({ decode: () => take(state, data, id) }, data);
  if (read.ok) return read.value;
  const { fault } = read;
  if (fault.code !== "gap") return { outcome: "refused", fault };
  return { outcome: "gap", missing: fault.path === "n" ? "facts" : "lane" };
}

function take(state: SessionState | undefined, data: string, id: string): Received {
  const steps = data.split("\n").map(parseLine);
  const [only] = steps;
  if (steps.length === 1 && (!isJsonObject(only) || Object.hasOwn(only, "v")))
    return takeWhole(state, only, id);
  if (state === undefined) return { outcome: "gap", missing: "snapshot" };
  const messages: (Fact | Batch)[] = [];
  let now = state;
  for (const step of steps) {
    const message = stepOf(now, step);
    const applied = apply(now, message);
    if (applied.verdict === "gap") return { outcome: "gap", missing: applied.missing };
    // Whatever is equal to what was taken before came twice, or something was lost before it.
    if (applied.verdict !== "applied") return { outcome: "gap", missing: "lane" };
    now = applied.state;
    messages.push(message);
  }
  if (encodeCursor(cursorOf(now)) !== id) return { outcome: "gap", missing: "lane" };
  return { outcome: "applied", state: now, messages };
}

function takeWhole(state: SessionState | undefined, value: unknown, id: string): Received {
  checkVersion(value);
  if (isJsonObject(value) && value["type"] === "stream_ended")
    return { outcome: "ended", ended: streamEnded.decode(value, "") };
  if (isJsonObject(value) && isOther(value["type"], Object.hasOwn(value, "n")))
    return { outcome: "ignored" };
  const message = shapeOf(value).decode(value, "");
  if ("closedLanes" in message) {
    return { outcome: "restored", state: restore(message), messages: [message] };
  }
  if (state === undefined) return { outcome: "gap", missing: "snapshot" };
  const applied = apply(state, message);
  if (applied.verdict === "gap") return { outcome: "gap", missing: applied.missing };
  const cursor = decodeCursor(id);
  const lacks = cursor !== undefined && lacking(applied.state, cursor);
  if (lacks !== undefined && lacks !== false) return { outcome: "gap", missing: lacks };
  return { outcome: applied.verdict, state: applied.state, messages: [message] };
}

function isOther(type: unknown, isFact: boolean): boolean {
  return !isFact && typeof type === "string" && type !== "batch" && type !== "snapshot";
}

/** What a reader at this state lacks of what the cursor covers. */
function lacking(state: SessionState, { uid, head, lanes }: Cursor): Missing | undefined {
  if (uid !== state.uid) return "snapshot";
  if (head > state.head) return "facts";
  const isThere = lanes.every(({ lane, epoch, seq }) => {
    const open = findLane(state, lane);
    const at = { epoch: open?.epoch ?? 0, seq: open?.seq ?? 0 };
    return (
      epoch <= closedEpoch(state, lane) || epoch < at.epoch || (epoch === at.epoch && seq <= at.seq)
    );
  });
  return isThere ? undefined : "lane";
}

import type { SessionId } from "../ids.ts";
import type { schemaVersion } from "../event/event.ts";
import { sessions, version } from "./event-codec.ts";
import { object, oneOf, optional, text } from "./shape.ts";
import type { Shape } from "./shape.ts";

/**
 * Why a stream ended. `finished`: its run is over. `drain`, `recycled`, `slow`: the reader comes back with
 * its cursor after `retry`. `expired`: it renews its credentials first. `revoked`, `removed` and
 * `not_found` are final.
 */
export type StreamEndReason = (typeof streamEndReasons)[number];

/** All reasons of this release. */
export const streamEndReasons = [
  "finished",
  "drain",
  "recycled",
  "slow",
  "expired",
  "revoked",
  "removed",
  "not_found",
] as const;

/** The last message of a stream. It is sent without an `id`, so it moves no cursor. */
export interface StreamEnded {
  readonly v: typeof schemaVersion;
  readonly type: "stream_ended";
  readonly reason: StreamEndReason;
  /** In a stream of many sessions: the one that ended. Left out: the whole stream. */
  readonly sessionId?: SessionId;
}

/** A reason of a later release is one that a reader comes back from, as `recycled`. */
const reason: Shape<StreamEndReason> = {
  decode: (value, path) =>
    streamEndReasons.find((known) => known === text.decode(value, path)) ?? "recycled",
};

export const streamEnded: Shape<StreamEnded> = object<StreamEnded>({
  v: version,
  type: oneOf("stream_ended"),
  reason,
  sessionId: optional(sessions),
});

import type { SessionId, SessionUid } from "@millrace/core";
import type { BlobUrl } from "../../shared/encode/file-url.ts";
import { recordOf } from "../../shared/encode/run-record.ts";
import type { HistoryTurn } from "../../shared/encode/turns.ts";
import type { AgUiMessage } from "./events.ts";
import { runMessages } from "./messages.ts";
import { userMessages } from "./user-messages.ts";

/** A session, and where its files are read. */
export interface HistoryOptions {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  readonly blobUrl: BlobUrl;
}

/** A turn as messages. What is being written is in its stream; what is stored of a run that is on is here. */
export function turnMessages(turn: HistoryTurn, options: HistoryOptions): readonly AgUiMessage[] {
  const { blobUrl } = options;
  if (turn.kind === "user") return userMessages(turn.item, blobUrl);
  return runMessages(recordOf(options, turn.facts), blobUrl);
}

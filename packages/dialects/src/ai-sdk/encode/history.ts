import type { SessionId, SessionUid } from "@millrace/core";
import { isJsonObject } from "@millrace/core/wire";
import { recordOf } from "../../shared/encode/run-record.ts";
import type { UserItem, HistoryTurn } from "../../shared/encode/turns.ts";
import { userParts } from "./parts.ts";
import type { BlobUrl } from "../../shared/encode/file-url.ts";
import type { Profile } from "./profiles.ts";
import { messageOf } from "./ui-message.ts";
import type { UiMessage } from "./ui-message.ts";

/** The field of a part's metadata in which a message of a page is named as that page names it. */
export const messageField = "aiSdk";

/** A session, and in whose way its messages are shown. */
export interface HistoryOptions {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  readonly profile: Profile;
  readonly blobUrl: BlobUrl;
}

/**
 * A turn as messages: what a person sent, or one for a run, and none for a run of which nothing is shown. What is
 * being written is in its stream; a run that is on is shown only where its replay begins the message anew.
 */
export function turnMessages(turn: HistoryTurn, options: HistoryOptions): readonly UiMessage[] {
  if (turn.kind === "user") return [userMessage(turn.item, options.blobUrl)];
  const message = runMessage(turn, options);
  return message === undefined ? [] : [message];
}

function runMessage(
  { id, isRun, facts }: Extract<HistoryTurn, { kind: "run" }>,
  options: HistoryOptions,
): UiMessage | undefined {
  const record = recordOf(options, facts);
  if (isRun && record.phase === "on" && !options.profile.replays) return undefined;
  return messageOf(record, { ...options, messageId: id });
}

/** What a person sent, with the id and the metadata that their page gave it. */
function userMessage(item: UserItem, blobUrl: BlobUrl): UiMessage {
  const [first] = item.parts;
  const named = first !== undefined && "metadata" in first ? first.metadata?.[messageField] : {};
  const { id, metadata } = isJsonObject(named) ? named : {};
  return {
    id: typeof id === "string" ? id : item.id,
    role: "user",
    ...(metadata === undefined ? {} : { metadata }),
    parts: userParts(item.parts, blobUrl),
  };
}

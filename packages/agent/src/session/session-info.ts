import type { SessionRecord } from "@millrace/core/ports";
import type { SessionInfo } from "../definition/tool.ts";

/** The owner of the record is the user. A program without owners may name one in the metadata. */
export function infoOf({
  sessionId,
  owner,
  metadata,
  tenant = "default",
}: SessionRecord): SessionInfo {
  const { user } = metadata;
  return {
    id: sessionId,
    tenant,
    user: owner ?? (typeof user === "string" ? user : "local"),
    metadata,
  };
}

import type { SessionRecord } from "@millrace/core/ports";
import type { BlobUrl } from "./encode/file-url.ts";
import type { RouteContext } from "@millrace/server/dialect";

/** Where a page reads the files of a session: by a path from the root of its origin. */
export function blobUrlOf(
  { publicPath }: Pick<RouteContext, "publicPath">,
  { sessionId }: Pick<SessionRecord, "sessionId">,
): BlobUrl {
  return (hash) => `${publicPath}/v1/sessions/${encodeURIComponent(sessionId)}/blobs/${hash}`;
}

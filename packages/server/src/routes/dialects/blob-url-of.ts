import type { SessionRecord } from "@millrace/core/ports";
import type { BlobUrl } from "../../dialects/file-url.ts";
import type { RouteContext } from "../../http/route-context.ts";
import { pathSegment } from "../common.ts";

/** Where a page reads the files of a session: by a path from the root of its origin. */
export function blobUrlOf(
  { publicPath }: Pick<RouteContext, "publicPath">,
  { sessionId }: Pick<SessionRecord, "sessionId">,
): BlobUrl {
  return (hash) => `${publicPath}/v1/sessions/${pathSegment(sessionId)}/blobs/${hash}`;
}

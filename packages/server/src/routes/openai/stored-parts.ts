import type { JsonObject, Part } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import { Problem } from "../../http/problem.ts";
import type { RouteContext } from "../../http/route-context.ts";
import { sentPart } from "../dialects/sent-part.ts";
import { blobsAt, sentParts } from "../sent-parts.ts";
import type { SentPart } from "./input.ts";

/** What a person sent, with its files stored. */
export async function storedParts(
  context: RouteContext,
  { tenant, uid }: SessionRecord,
  sent: readonly SentPart[],
): Promise<readonly Part[]> {
  const place = { tenant, uid };
  const parts: JsonObject[] = [];
  for (const { part, pointer } of sent) parts.push(await sentPart(context, place, part, pointer));
  if (parts.length === 0)
    throw new Problem("invalid_request", "send a message, or answers", { pointer: "/input" });
  return sentParts({ kind: "prompt", parts }, blobsAt(context.blobs, place), "/input");
}

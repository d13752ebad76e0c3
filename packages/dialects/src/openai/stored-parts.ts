import type { JsonObject, Part } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import { attachmentsOf, Problem, sentParts } from "@millrace/server/dialect";
import type { RouteContext } from "@millrace/server/dialect";
import { sentPart } from "../shared/sent-part.ts";
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
  return sentParts({ kind: "prompt", parts }, attachmentsOf(context, place), "/input");
}

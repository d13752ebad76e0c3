import type { JsonObject, Part } from "@millrace/core";
import type { BlobScope } from "@millrace/core/ports";
import { messageField } from "./encode/history.ts";
import { attachmentsOf, Problem, sentParts } from "@millrace/server/dialect";
import type { RouteContext } from "@millrace/server/dialect";
import { sentPart } from "../shared/sent-part.ts";
import type { SentMessage } from "./body.ts";

/** The parts of a person's message, with its files stored. What can't be stored is refused, not left out. */
export async function storedParts(
  context: RouteContext,
  place: BlobScope,
  message: SentMessage,
  pointer: string,
): Promise<readonly Part[]> {
  const parts: JsonObject[] = [];
  for (const [at, part] of message.parts.entries())
    parts.push(await sentPart(context, place, part, `${pointer}/parts/${at}`));
  if (parts.length === 0)
    throw new Problem("invalid_request", "a message has at least one part", { pointer });
  const { id, metadata } = message;
  const named = { [messageField]: metadata === undefined ? { id } : { id, metadata } };
  const [first = {}, ...others] = parts;
  return sentParts(
    { kind: "prompt", parts: [{ ...first, metadata: named }, ...others] },
    attachmentsOf(context, place),
    pointer,
  );
}

import type { FilePart, JsonObject, MediaPart } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import type { Target } from "../request-laws.ts";

/** A request that was built, and what had to be left out of it. */
export interface Sent {
  readonly body: JsonObject;
  readonly request: ModelRequest;
  /** The refused parts, each with the message of its refusal. */
  readonly refused: ReadonlyMap<MediaPart | FilePart, string>;
}

/** Builds the request. What is refused is left out, until the rest is taken. */
export function sendMarked(target: Target, given: ModelRequest): Sent {
  const refused = new Map<MediaPart | FilePart, string>();
  let request = given;
  for (;;) {
    try {
      return { body: target.request(request).body, request, refused };
    } catch (error) {
      const part = refusedPart(error);
      if (part === undefined || refused.has(part)) throw error;
      refused.set(part, (error as Error).message);
      request = { ...request, transcript: without(request, part) };
    }
  }
}

/** By its field, not by its class, so that the suite also runs where there are no refusals. */
function refusedPart(error: unknown): MediaPart | FilePart | undefined {
  const { refused } = error as { readonly refused?: { readonly part?: MediaPart | FilePart } };
  return refused?.part;
}

function without(
  { transcript }: ModelRequest,
  part: MediaPart | FilePart,
): ModelRequest["transcript"] {
  return transcript.map((item) => ({ ...item, parts: item.parts.filter((each) => each !== part) }));
}

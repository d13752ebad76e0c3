import type { Cause, FilePart, MediaPart, Part, Transcript } from "@millrace/core";
import { failure } from "../failure.ts";

/**
 * Thrown by `Protocol.request` for what its vendor does not take: a file of another type, a tool
 * whose input can't be an object. The provider ends the reply with it as its cause and sends nothing,
 * so that no request goes out from which a part is missing.
 */
export class RequestRefusal extends Error {
  override readonly name = "RequestRefusal";
  /** The part of the transcript that is refused. Undefined if it is a tool. */
  readonly part: MediaPart | FilePart | undefined;

  constructor(message: string, part?: MediaPart | FilePart) {
    super(message);
    this.part = part;
  }
}

/** The cause of a reply that was refused before its request, with the place of the refused part. */
export function refusalCause({ message, part }: RequestRefusal, transcript: Transcript): Cause {
  if (part === undefined) return failure("bad_request", message);
  const item = transcript.find(({ parts }) => parts.includes(part satisfies Part));
  if (item === undefined) return failure("bad_request", message);
  const where = `part ${part.id} of item ${item.id} was not sent, and nothing else was`;
  return failure("bad_request", `${message} (${where})`, { itemId: item.id, partId: part.id });
}

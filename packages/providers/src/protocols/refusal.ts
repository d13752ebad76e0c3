import type { Cause, FilePart, MediaPart, Part, Transcript } from "@millrace/core";
import type { Remark } from "@millrace/core/ports";
import { failure } from "../failure.ts";
import type { WireNames } from "./tool-names.ts";

/** What is refused: a part of the transcript, a tool by its wire name, or a setting. */
export type Refused =
  | { readonly part: MediaPart | FilePart; readonly tool?: never; readonly setting?: never }
  | { readonly tool: string; readonly part?: never; readonly setting?: never }
  | { readonly setting: string; readonly part?: never; readonly tool?: never };

/**
 * Thrown by `Protocol.request` for what its vendor does not take: a file of another type, a tool
 * whose input can't be an object, a setting that the model does not have. The provider ends the reply with it as its cause and sends nothing,
 * so that no request goes out from which a part is missing.
 */
export class RequestRefusal extends Error {
  override readonly name = "RequestRefusal";
  readonly refused: Refused;

  constructor(message: string, refused: Refused) {
    super(message);
    this.refused = refused;
  }
}

const later = "the next prompt goes on without it, with its name in its place";

/** The notice of a part that was refused before and is left out of a request. */
export function leftOutRemark(part: MediaPart | FilePart): Remark {
  const name =
    part.kind === "file" ? `the file ${JSON.stringify(part.name.slice(0, 80))}` : "media";
  const message = `${name} was refused before and is left out of the request`;
  return { type: "remark", code: "left_out", message, evidence: { partId: part.id } };
}

/** The cause of a reply that was refused before its request: why, and which part, tool or setting it was. */
export function refusalCause(
  { message, refused: { part, tool, setting } }: RequestRefusal,
  transcript: Transcript,
  { fromWire }: WireNames,
): Cause {
  if (setting !== undefined) {
    return failure("bad_request", `${message} (nothing was sent)`, { setting });
  }
  if (part === undefined) {
    const own = fromWire.get(tool) ?? tool;
    const named = `the tool ${JSON.stringify(own.slice(0, 128))} can't be offered: ${message}`;
    return failure("bad_request", named, { tool: own });
  }
  const item = transcript.find(({ parts }) => parts.includes(part satisfies Part));
  const place = item === undefined ? {} : { itemId: item.id };
  const where = item === undefined ? "" : ` of item ${item.id}`;
  return failure(
    "bad_request",
    `${message} (part ${part.id}${where}; nothing was sent; ${later})`,
    {
      ...place,
      partId: part.id,
    },
  );
}

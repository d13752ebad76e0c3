import type { Cause, FilePart, MediaPart, Part, Transcript } from "@millrace/core";
import type { Remark } from "@millrace/core/ports";
import { failure } from "../failure.ts";
import { givenOptions } from "./given-options.ts";
import type { WireNames } from "./tool-names.ts";

/** What is refused: a part of the transcript, an option of one, a tool by its wire name, or a setting. */
export type Refused = OneOf<{
  part: MediaPart | FilePart;
  option: string;
  tool: string;
  setting: string;
}> & {
  /** The part of an option. */
  readonly of?: Part;
};

type OneOf<Sorts> = {
  [Name in keyof Sorts]: { readonly [Own in Name]: Sorts[Own] } & {
    readonly [Other in Exclude<keyof Sorts, Name>]?: never;
  };
}[keyof Sorts];

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

/** The notice of a part, or an option of it, that was refused before and is left out of a request. */
export function leftOutRemark({ part, option }: LeftOut): Remark {
  const name =
    part.kind === "file" ? `the file ${JSON.stringify(part.name.slice(0, 80))}` : part.kind;
  const what = option === undefined ? name : `the option ${option} of ${name}`;
  const message = `${what} was refused before and is left out of the request`;
  const evidence = { partId: part.id, ...(option === undefined ? {} : { option }) };
  return { type: "remark", code: "left_out", message, evidence };
}

/** What a request goes without: a part, or an option of it. */
export interface LeftOut {
  readonly part: Part;
  readonly option?: string;
}

/** The cause of a reply that was refused before its request: why, and what it was about. */
export function refusalCause(
  { message, refused }: RequestRefusal,
  transcript: Transcript,
  { fromWire }: WireNames,
): Cause {
  const { part, tool, setting, option } = refused;
  if (setting !== undefined) {
    return failure("bad_request", `${message} (nothing was sent)`, { setting });
  }
  if (tool !== undefined) {
    const own = fromWire.get(tool) ?? tool;
    const named = `the tool ${JSON.stringify(own.slice(0, 128))} can't be offered: ${message}`;
    return failure("bad_request", named, { tool: own });
  }
  const options = givenOptions(refused.of);
  const item = transcript.find(({ parts }) =>
    option === undefined
      ? parts.includes(part satisfies Part)
      : // The part itself may have become a text.
        parts.some((each) => givenOptions(each) === options),
  );
  const id = part?.id ?? refused.of?.id ?? "";
  const where = item === undefined ? "" : ` of item ${item.id}`;
  const then = option === undefined ? later : "the next prompt goes on without the option";
  return failure("bad_request", `${message} (part ${id}${where}; nothing was sent; ${then})`, {
    ...(item === undefined ? {} : { itemId: item.id }),
    partId: id,
    ...(option === undefined ? {} : { option }),
  });
}

import { commitDraft, itemId } from "@millrace/core/writing";
import { isJsonObject } from "@millrace/core/json";
import type { Item, Json, Part } from "@millrace/core";
import type { Ending } from "@millrace/core/writing";
import type { VendorEvent } from "../framing/framing.ts";
import type { Protocol } from "../protocol.ts";
import { decode } from "./decode.ts";
import type { Decoded } from "./decode.ts";
import { awsEnds } from "./aws-streams.ts";
import { bytesOf, framingOf, isBinary, scenariosOf } from "./fixtures.ts";
import { offeredContext } from "./offers.ts";

/** A reply of a vendor, whole or cut, as our protocol read it. */
export interface NativeReply {
  readonly parts: readonly Part[];
  readonly ending: Ending;
}

/** Copies of one reply, each with other ids of the vendor. */
export type NativeCopies = readonly NativeReply[];

/**
 * The number of copies of one reply that a transcript can contain without duplicate vendor ids.
 */
const copies = 6;

/**
 * All replies in a protocol's fixtures: unchanged, cut by an abort in several places, and copied
 * with other ids of the vendor, so that one reply can be drawn more than once.
 */
export function nativeReplies<State>(protocol: Protocol<VendorEvent, State>): {
  readonly replies: readonly NativeCopies[];
  readonly rich: readonly NativeCopies[];
} {
  const framing = framingOf(protocol.id);
  const endsOf = isBinary(protocol.id) ? awsEnds : lineEnds;
  const replies = scenariosOf(protocol.id).flatMap(({ name, offers }) => {
    const bytes = bytesOf(protocol.id, name);
    const offered = offeredContext(protocol, offers);
    const whole = decode(protocol, framing, [bytes], offered);
    const cuts = spread(endsOf(bytes)).map((at) =>
      decode(protocol, framing, [bytes.subarray(0, at)], {
        ...offered,
        end: { kind: "aborted" },
      }),
    );
    return [whole, ...cuts].filter(isUseful).map(renumbered);
  });
  return { replies, rich: replies.filter(([reply]) => reply?.parts.some(isRich) === true) };
}

/** False for replies with many parts of one kind, which take long and add no coverage. */
function isUseful({ draft }: Decoded): boolean {
  return draft.parts.length > 0 && draft.parts.length <= 12;
}

/** True if the part contains data that only its vendor can read. */
function isRich(part: Part): boolean {
  return part.kind === "custom" || "opaque" in part || "metadata" in part;
}

/** The ends of server-sent events. */
function lineEnds(bytes: Uint8Array): readonly number[] {
  const ends: number[] = [];
  for (let at = 1; at < bytes.length; at += 1) {
    if (bytes[at] === 10 && bytes[at - 1] === 10) ends.push(at + 1);
  }
  return ends;
}

/** Up to eight ends or so, over the whole stream. */
function spread(ends: readonly number[]): readonly number[] {
  const stride = Math.max(1, Math.floor(ends.length / 8));
  return ends.filter((_, at) => at % stride === 0);
}

function renumbered({ draft, end }: Decoded): NativeCopies {
  const { usage: _, ...ending } = end;
  const head = { id: itemId("i"), author: "model" } as const;
  const item: Item = commitDraft(draft, head, ending);
  const { id: __, author: ___, parts, ...rest } = item;
  return Array.from({ length: copies }, (____, copy) => ({
    parts: parts.map((part) => withIds(part, copy)),
    ending: rest,
  }));
}

/** The part with the vendor's ids changed. Ids of calls stay, because vendors do reuse those. */
function withIds(part: Part, copy: number): Part {
  if (copy === 0 || part.kind === "opaque") return part;
  const renamed = { ...part };
  if (renamed.metadata !== undefined && isJsonObject(renamed.metadata)) {
    const metadata = rename(renamed.metadata, copy);
    if (isJsonObject(metadata)) renamed.metadata = metadata;
  }
  if ("opaque" in renamed && renamed.opaque !== undefined) {
    renamed.opaque = rename(renamed.opaque, copy);
  }
  if (renamed.kind === "custom") renamed.value = rename(renamed.value, copy);
  return renamed;
}

/** Ids contain digits, so names of types such as `mcp_tool_use` do not match. */
const vendorId =
  /^(rs|msg|fc|ctc|ws|fs|ci|ig|cu|mcpl?|mcpr|sh|lsh|apc?|ts|cmp|srvtoolu|mcptoolu)_\w*\d\w*$/;

function rename(value: Json, copy: number): Json {
  if (typeof value === "string") {
    return vendorId.test(value) ? `${value.slice(0, -1)}${copy}` : value;
  }
  if (Array.isArray(value)) return value.map((each: Json) => rename(each, copy));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, rename(each, copy)]));
}

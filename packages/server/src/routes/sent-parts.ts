import { defaultDraftLimits, partId } from "@millrace/core/writing";
import type { JsonObject, Part } from "@millrace/core";
import type { BlobScope, StoredBlob } from "@millrace/core/ports";
import { decodePart, isJsonObject } from "@millrace/core/wire";
import { Problem } from "../http/problem.ts";
import type { RouteContext } from "../http/route-context.ts";

/** An input as a client sends it, of the shape that the route checks. */
export interface SentInput {
  readonly kind: "prompt" | "steer" | "follow_up";
  readonly text?: string | undefined;
  readonly parts?: readonly JsonObject[] | undefined;
  readonly options?: JsonObject | undefined;
}

/** Bytes of a part that are taken as they are. Larger ones are uploaded first. */
const inlineBytes = 32 * 1_024;

/** What the parts of an input may name. */
export interface Attachments {
  /** Finds a blob of the session, and lets its age begin again. Undefined: there is none. */
  readonly find: (hash: string) => Promise<StoredBlob | undefined>;
  /** Whether a file may be at this address, from which a model's vendor reads it. */
  readonly acceptsUrl: (url: URL) => boolean;
}

/** Those of a session. `place` is left out for one that does not exist yet: it has no blobs. */
export function attachmentsOf(
  { blobs, acceptsUrl }: Pick<RouteContext, "blobs" | "acceptsUrl">,
  place?: BlobScope,
): Attachments {
  const find = async (hash: string): Promise<StoredBlob | undefined> =>
    place && blobs.find(place, hash, { renew: true });
  return { find, acceptsUrl };
}

/**
 * The parts of an input, with ids where the client gave none, and with the sizes of their blobs. Throws
 * `invalid_request`, `too_large` and `unknown_blob`.
 */
export async function sentParts(
  { text, parts = [] }: SentInput,
  attachments: Attachments,
  pointer = "",
): Promise<readonly Part[]> {
  if (text !== undefined) return [{ kind: "text", id: partId("p1"), text: text.toWellFormed() }];
  if (parts.length > defaultDraftLimits.parts) {
    const detail = `an input has at most ${defaultDraftLimits.parts} parts`;
    throw new Problem("invalid_request", detail, { pointer: `${pointer}/parts` });
  }
  const given = new Set(parts.map(({ id }) => id));
  let next = 0;
  const newId = (): string => {
    do next += 1;
    while (given.has(`p${next}`));
    return `p${next}`;
  };
  const sent: Part[] = [];
  for (const [at, part] of parts.entries()) {
    const where = `${pointer}/parts/${at}`;
    const named = { ...part, id: part["id"] ?? newId() };
    const decoded = decodePart(await withBlob(named, attachments, where));
    if (!decoded.ok) {
      throw new Problem("invalid_request", decoded.fault.message, { pointer: where });
    }
    checkSize(decoded.value, `${where}/bytes`);
    checkUrl(decoded.value, attachments, `${where}/url`);
    sent.push(decoded.value);
  }
  return sent;
}

async function withBlob(
  part: JsonObject,
  { find }: Attachments,
  where: string,
): Promise<JsonObject> {
  const { blob } = part;
  if (!isJsonObject(blob)) return part;
  const { hash, size } = blob;
  const found = typeof hash === "string" ? await find(hash) : undefined;
  if (found === undefined || (size !== undefined && size !== found.size)) {
    throw new Problem(
      "unknown_blob",
      "no such blob is in this session: upload its bytes to this session first",
      { pointer: `${where}/blob` },
    );
  }
  return { ...part, blob: { hash: found.hash, size: found.size } };
}

function checkSize(part: Part, pointer: string): void {
  if (part.kind !== "file" && part.kind !== "media") return;
  if ((part.bytes?.length ?? 0) <= inlineBytes) return;
  throw new Problem("too_large", "bytes above 32 KiB are uploaded as a blob first, and named", {
    pointer,
    limit: inlineBytes,
  });
}

function checkUrl(part: Part, { acceptsUrl }: Attachments, pointer: string): void {
  if ((part.kind !== "file" && part.kind !== "media") || part.url === undefined) return;
  const url = URL.parse(part.url);
  if (url !== null && acceptsUrl(url)) return;
  const detail = "a file at this address is not taken: use an https address, or upload its bytes";
  throw new Problem("invalid_request", detail, { pointer });
}

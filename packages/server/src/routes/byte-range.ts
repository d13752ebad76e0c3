/** A range of bytes, up to and without `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * What a `Range` header asks of bytes of this size. `whole`: no range, several, another unit or a
 * malformed one, all of which RFC 9110 lets a server ignore. `none`: nothing of it is there.
 */
export function byteRange(header: string | undefined, size: number): ByteRange | "whole" | "none" {
  const [, first, last] = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/.exec(header ?? "") ?? [];
  if (first === undefined || last === undefined || (first === "" && last === "")) return "whole";
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "none" : { start: size - length, end: size };
  }
  const start = Number(first);
  const end = last === "" ? size : Math.min(Number(last) + 1, size);
  if (last !== "" && Number(last) < start) return "whole";
  return start >= size ? "none" : { start, end };
}

/** The hash of a blob by `Content-Digest` (RFC 9530), in our form. Undefined if it has no SHA-256. */
export function contentDigest(
  header: string | undefined,
): `sha256-${string}` | "malformed" | undefined {
  const member = header?.split(",").find((each) => /^\s*sha-256=/i.test(each));
  if (member === undefined) return undefined;
  const [, base64] = /^\s*sha-256=:([A-Za-z0-9+/]{43}=):\s*$/i.exec(member) ?? [];
  if (base64 === undefined) return "malformed";
  return `sha256-${Buffer.from(base64, "base64").toString("hex")}`;
}

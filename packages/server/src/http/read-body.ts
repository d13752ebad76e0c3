import type { Clock } from "@millrace/core/ports";
import type { Incoming } from "./request.ts";
import { Problem } from "./problem.ts";
import { parseBody } from "./parse-body.ts";
import type { JsonBody, RequestBody } from "./route.ts";
import type { ServerLimits } from "./route-limits.ts";

/** A body as its route wants it. */
export interface ReadBody {
  /** JSON of the route's shape. */
  readonly json?: unknown;
  /** The bytes as they come. */
  readonly bytes?: AsyncIterable<Uint8Array>;
}

/** The bytes of a body that one request holds. */
export interface HeldBody {
  /** Holds this many bytes in all. Throws `rate_limited` for the user, and `overloaded` for the process. */
  readonly grow: (bytes: number) => void;
  /** Gives all back. May be called again. */
  readonly release: () => void;
}

/** How much is read, by which clock in how much time, and what counts it. */
export interface BodyReading {
  readonly limits: ServerLimits;
  readonly clock: Clock;
  /** Holds the bytes of a JSON body until it is parsed. */
  readonly held: HeldBody;
  /** Charges the bytes of a JSON body to its user, before they are parsed. Throws `rate_limited`. */
  readonly charge: (bytes: number) => Promise<void>;
}

/** Reads and checks the body. Throws the problem of its size, its type or its form. */
export async function readBody(
  incoming: Incoming,
  request: RequestBody,
  reading: BodyReading,
): Promise<ReadBody> {
  if (request.kind === "none") return {};
  const encoding = incoming.header("content-encoding");
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw new Problem("unsupported_media_type", "send the body without Content-Encoding");
  }
  if (request.kind === "bytes") return { bytes: blobBytes(incoming, reading) };
  try {
    return { json: await readJson(incoming, request, reading) };
  } finally {
    reading.held.release();
  }
}

async function readJson(
  incoming: Incoming,
  { optional, mediaTypes = ["application/json"], shape, large }: JsonBody,
  { limits, clock, held, charge }: BodyReading,
): Promise<unknown> {
  const { body = noBytes } = incoming;
  if (optional === true && isEmpty(incoming)) return {};
  const type = incoming.header("content-type");
  // Over HTTP/2 a body may turn out to be empty when it is read: then it has no type.
  if (optional !== true || type !== undefined) refuseOtherType(type, mediaTypes);
  const limit = large === true ? limits.bodyBytes : Math.min(limits.controlBytes, limits.bodyBytes);
  held.grow(refuseLength(incoming, limit));
  const read = await collect(timed(limited(body, limit, held.grow), limits.bodyMs, clock));
  if (optional === true && read.length === 0) return {};
  refuseOtherType(type, mediaTypes);
  await charge(read.length);
  return parseBody(read, shape, { limit, values: limits.bodyValues, clock });
}

const noBytes: AsyncIterable<Uint8Array> = {
  // eslint-disable-next-line require-yield
  async *[Symbol.asyncIterator]() {
    return;
  },
};

function isEmpty(incoming: Incoming): boolean {
  return incoming.body === undefined || incoming.header("content-length") === "0";
}

function refuseOtherType(given: string | undefined, mediaTypes: readonly string[]): void {
  const [type = "", ...parameters] = (given ?? "").toLowerCase().split(";");
  const charset = parameters.map((each) => each.trim()).find((each) => each.startsWith("charset="));
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  if (mediaTypes.includes(type.trim()) && isUtf8) return;
  const detail = `send Content-Type: ${mediaTypes[0] ?? "application/json"}, in UTF-8`;
  throw new Problem("unsupported_media_type", detail);
}

/** The length that was announced. Refuses by it, before a byte is read. */
function refuseLength(incoming: Incoming, limit: number): number {
  const announced = Number(incoming.header("content-length") ?? 0);
  if (announced > limit) throw tooLarge(limit);
  return announced >= 0 ? announced : 0;
}

function blobBytes(
  incoming: Incoming,
  { limits, clock }: Pick<BodyReading, "limits" | "clock">,
): AsyncIterable<Uint8Array> {
  refuseLength(incoming, limits.blobBytes);
  return timed(limited(incoming.body ?? noBytes, limits.blobBytes), limits.blobMs, clock);
}

function tooLarge(limit: number): Problem {
  return new Problem("too_large", `the body has more than ${limit} bytes`, { limit });
}

/** The same bytes; throws `too_large` at the piece that goes above. `note` gets the size so far. */
async function* limited(
  body: AsyncIterable<Uint8Array>,
  limit: number,
  note?: (size: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > limit) throw tooLarge(limit);
    note?.(size);
    yield piece;
  }
}

/** The same bytes; throws `request_timeout` if they have not all come in time. One timer for all pieces. */
async function* timed(
  body: AsyncGenerator<Uint8Array, void, undefined>,
  ms: number,
  clock: Clock,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  late.catch(() => undefined); // it may come when nothing waits any more
  const timeOut = (): void =>
    reject(new Problem("request_timeout", `the body did not come within ${ms / 1_000} s`));
  const inTime = clock.after(ms, timeOut);
  try {
    for (;;) {
      const next = await Promise.race([body.next(), late]);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    inTime();
  }
}

async function collect(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  const [only] = pieces;
  if (pieces.length === 1 && Buffer.isBuffer(only)) return only;
  return Buffer.concat(pieces);
}

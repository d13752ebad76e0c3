import type { Clock } from "@millrace/core/ports";
import { parseJson } from "@millrace/core/wire";
import type { Incoming } from "./request.ts";
import { Problem } from "./problem.ts";
import type { RequestBody } from "./route.ts";
import type { ServerLimits } from "./route-limits.ts";
import { shapeFault } from "./shape.ts";

/** A body as its route wants it. */
export interface ReadBody {
  /** JSON of the route's shape. */
  readonly json?: unknown;
  /** The bytes as they come. */
  readonly bytes?: AsyncIterable<Uint8Array>;
}

/** How much is read, and by which clock in how much time. */
export interface BodyReading {
  readonly limits: ServerLimits;
  readonly clock: Clock;
}

/** Reads and checks the body. Throws the problem of its size, its type or its form. */
export async function readBody(
  incoming: Incoming,
  request: RequestBody,
  { limits, clock }: BodyReading,
): Promise<ReadBody> {
  if (request.kind === "none") return {};
  const encoding = incoming.header("content-encoding");
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw new Problem("unsupported_media_type", "send the body without Content-Encoding");
  }
  if (request.kind === "bytes") return { bytes: blobBytes(incoming, { limits, clock }) };
  const { optional = false, mediaTypes = ["application/json"], shape } = request;
  const { body = noBytes } = incoming;
  if (optional && isEmpty(incoming)) return { json: {} };
  const type = incoming.header("content-type");
  // Over HTTP/2 a body may turn out to be empty when it is read: then it has no type.
  if (!optional || type !== undefined) refuseOtherType(type, mediaTypes);
  const limit = limits.bodyBytes;
  refuseLength(incoming, limit);
  const read = await collect(timed(limited(body, limit), limits.bodyMs, clock));
  if (optional && read.length === 0) return { json: {} };
  refuseOtherType(type, mediaTypes);
  const json = parseBody(read, limit);
  const fault = shapeFault(shape, json);
  if (fault === undefined) return { json };
  const { pointer, fix } = fault;
  const place = pointer === "" ? "the body" : pointer;
  throw new Problem("invalid_request", `${place}: ${fix}`, { pointer });
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

/** Refuses by the length that was announced, before a byte is read. */
function refuseLength(incoming: Incoming, limit: number): void {
  const announced = incoming.header("content-length");
  if (announced !== undefined && Number(announced) > limit) throw tooLarge(limit);
}

function blobBytes(incoming: Incoming, { limits, clock }: BodyReading): AsyncIterable<Uint8Array> {
  refuseLength(incoming, limits.blobBytes);
  return timed(limited(incoming.body ?? noBytes, limits.blobBytes), limits.blobMs, clock);
}

function tooLarge(limit: number): Problem {
  return new Problem("too_large", `the body has more than ${limit} bytes`, { limit });
}

/** The same bytes; throws `too_large` at the piece that goes above. */
async function* limited(
  body: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > limit) throw tooLarge(limit);
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

function parseBody(bytes: Buffer, limit: number): unknown {
  const parsed = parseJson(decodeUtf8(bytes), { depth: 64, keys: 10_000, length: limit });
  if (parsed.ok) return parsed.value;
  const { code, at, key } = parsed.fault;
  const where = key === undefined ? (at === undefined ? "" : ` at ${at}`) : ` at ${shortKey(key)}`;
  throw new Problem("invalid_request", `the body is refused as JSON: ${code}${where}`);
}

function shortKey(key: string): string {
  return JSON.stringify(key.slice(0, 40));
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Problem("invalid_request", "the body is not UTF-8");
  }
}

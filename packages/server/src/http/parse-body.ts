import type { Clock } from "@millrace/core/ports";
import { JsonScan } from "@millrace/core/wire";
import { Problem } from "./problem.ts";
import { shapeFault } from "./shape.ts";
import type { Shape } from "./shape.ts";

/** How large a body may be, in bytes and in values. */
interface BodySize {
  readonly limit: number;
  readonly values: number;
  readonly clock: Clock;
}

/** UTF-16 units that are scanned before other requests get their turn: 1 to 10 ms. */
const piece = 64 * 1_024;

/** A body above this many bytes is read in several turns, and has no keys that take longer to parse. */
const large = 64 * 1_024;

/**
 * The JSON of a body of this shape. A large body does not hold up all others: it is scanned in pieces, and parsed,
 * checked and used in a turn each, which the limits bound.
 */
export async function parseBody(
  bytes: Buffer,
  shape: Shape,
  { limit, values, clock }: BodySize,
): Promise<unknown> {
  const turn = async (): Promise<void> => (bytes.length > large ? clock.sleep(0) : undefined);
  const scan = new JsonScan(decodeUtf8(bytes), { depth: 64, keys: 10_000, length: limit, values });
  while (!scan.run(piece)) await turn();
  if (bytes.length > large && scan.hasEscapedKey) {
    const detail = "a large body has no keys with quotes, backslashes or control characters";
    throw new Problem("invalid_request", detail);
  }
  await turn();
  const json = jsonOf(scan);
  await turn();
  const fault = shapeFault(shape, json);
  if (fault !== undefined) {
    const { pointer, fix } = fault;
    const place = pointer === "" ? "the body" : pointer;
    throw new Problem("invalid_request", `${place}: ${fix}`, { pointer });
  }
  await turn();
  return json;
}

function jsonOf(scan: JsonScan): unknown {
  const parsed = scan.parse();
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

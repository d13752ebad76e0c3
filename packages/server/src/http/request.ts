import { isJsonObject } from "@millrace/core/wire";
import { Problem } from "./problem.ts";
import { shapeFault } from "./shape.ts";
import type { Shape } from "./shape.ts";
import type { Route } from "./route.ts";
import { keyPattern } from "./shapes.ts";

/**
 * A request, however it came: by `node:http`, HTTP/2 or `fetch`. One pipeline serves all of them, and no
 * web `Request` is made unless the application's `authenticate` wants one.
 */
export interface Incoming {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  /** A header by its lower-case name. Several of one name are joined by a comma. */
  readonly header: (name: string) => string | undefined;
  /** Name and value of each header. */
  readonly headers: () => Iterable<readonly [string, string]>;
  /** The size of all headers, about as they were sent. */
  readonly headerBytes: number;
  /** The address at the other end of the connection, where the host gives it. */
  readonly peer: string | undefined;
  /** Whether the connection to this process is encrypted. */
  readonly encrypted: boolean;
  /** Undefined if the request has no body. Read once. */
  readonly body: AsyncIterable<Uint8Array> | undefined;
  /** Aborted when the client is gone. Made when it is first read: most requests need none. */
  readonly signal: AbortSignal;
  /** Why this listener must not serve the request: it listens beyond loopback. For local mode. */
  readonly exposed: boolean;
}

/** What `authenticate` gets: the request's head, without its body. */
export function requestHead(incoming: Incoming, url: string): Request {
  const headers = new Headers();
  for (const [name, value] of incoming.headers()) {
    if (!name.startsWith(":")) headers.append(name, value);
  }
  return new Request(url, { method: incoming.method, headers });
}

/** A request's target in its two halves, as they were sent. */
interface Target {
  readonly path: string;
  readonly query: string;
}

/** Splits a target. The absolute form that proxies use counts by its path. */
export function splitTarget(target: string): Target {
  const own = /^https?:\/\/[^/?#]*/i.exec(target)?.[0];
  const local = own === undefined ? target : target.slice(own.length);
  const at = local.indexOf("?");
  const [path, query] = at < 0 ? [local, ""] : [local.slice(0, at), local.slice(at + 1)];
  return { path: path === "" ? "/" : path, query };
}

/** What would be read differently by two programs on the way: refused, never interpreted. */
const ambiguous = /\/\/|;|\\|%2f|%5c|%00|#/i;
/** Control characters, of which none stands in an id. */
// eslint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f-\u009f]/;

/** The segments of a path, each decoded once. Throws `invalid_request` for what is ambiguous. */
export function pathSegments(path: string): readonly string[] {
  if (!path.startsWith("/") || ambiguous.test(path)) throw badPath();
  const segments = path.slice(1).split("/");
  return path.includes("%") ? segments.map(decodeSegment) : segments.map(plainSegment);
}

function decodeSegment(segment: string): string {
  try {
    return plainSegment(decodeURIComponent(segment));
  } catch {
    throw badPath();
  }
}

function plainSegment(segment: string): string {
  if (segment === "." || segment === ".." || control.test(segment)) throw badPath();
  return segment;
}

function badPath(): Problem {
  const fix = "encode each segment once, without //, ;, ., .., %2f, %5c and %00";
  return new Problem("invalid_request", `the path can't be read: ${fix}`);
}

/**
 * The part of a path below the mount. Undefined if the path is elsewhere: the host did not strip what
 * `basePath` names, or routed something else here.
 */
export function belowBase(path: string, basePath: string): string | undefined {
  if (basePath === "") return path;
  if (path === basePath) return "/";
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined;
}

/** Query parameters by name, as they were sent. */
export type RawQuery = ReadonlyMap<string, string>;
/** Checked parameters. Numbers and booleans are such. */
type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Names under which programs put credentials into a URL, where logs and histories keep them. */
const tokenNames =
  /^(?:.*[_-])?(?:token|jwt|auth|authorization|bearer|apikey|api[_-]key|key|secret|password|credential|credentials|session[_-]?id)$/i;

/** Reads a query. Throws `invalid_request` for repeated names and bad encoding, `token_in_url` for tokens. */
export function readQuery(query: string): RawQuery {
  const read = new Map<string, string>();
  if (query === "") return read;
  for (const pair of query.split("&", 33)) {
    if (pair === "") continue;
    const at = pair.indexOf("=");
    const name = decode(at < 0 ? pair : pair.slice(0, at));
    if (tokenNames.test(name)) {
      const fix = "send Authorization, or take a ticket";
      throw new Problem("token_in_url", `credentials don't belong into a URL: ${fix}`);
    }
    if (read.has(name)) throw badQuery(name, "give it once");
    read.set(name, decode(at < 0 ? "" : pair.slice(at + 1)));
  }
  if (read.size > 32) throw badQuery("the query", "use fewer parameters");
  return read;
}

/** The parameters of a route. Throws `invalid_request` for unknown ones and for values that do not fit. */
export function checkQuery(raw: RawQuery, shapes: Readonly<Record<string, Shape>>): Query {
  const checked: Record<string, string | number | boolean> = {};
  for (const [name, value] of raw) {
    const shape = Object.hasOwn(shapes, name) ? shapes[name] : undefined;
    if (shape === undefined) {
      const known = Object.keys(shapes).join(", ");
      throw badQuery(name, known === "" ? "there are no parameters here" : `there are ${known}`);
    }
    const read = valueOf(shape, value);
    const fault = shapeFault(shape, read);
    if (fault !== undefined) throw badQuery(name, fault.fix);
    checked[name] = read;
  }
  return checked;
}

/** The value that a text stands for. A text that stands for none stays, and does not fit. */
function valueOf(shape: Shape, value: string): string | number | boolean {
  if (!("type" in shape)) return value;
  if (shape.type === "integer") return /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (shape.type === "boolean") return value === "true" ? true : value === "false" ? false : value;
  return value;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new Problem("invalid_request", "the query is not well encoded: encode it as UTF-8");
  }
}

function badQuery(name: string, fix: string): Problem {
  const shown = name.slice(0, 64).replace(/[^\w.-]/g, "?");
  return new Problem("invalid_request", `query parameter ${shown}: ${fix}`);
}

/** How much a client wants a media type by its `Accept`: 0 to 1. Without the header all are fine. */
function acceptance(accept: string | undefined, type: string): number {
  if (accept === undefined || accept.trim() === "") return 1;
  const [family = ""] = type.split("/", 1);
  let best = { exactness: -1, quality: 0 };
  for (const range of accept.toLowerCase().split(",", 64)) {
    const [name = "", ...parameters] = range.split(";").map((each) => each.trim());
    const exactness = name === type ? 2 : name === `${family}/*` ? 1 : name === "*/*" ? 0 : -1;
    if (exactness <= best.exactness) continue;
    const quality = parameters.find((each) => each.startsWith("q="))?.slice(2);
    const value = quality === undefined ? 1 : Number(quality);
    best = { exactness, quality: Number.isFinite(value) ? value : 0 };
  }
  return best.quality;
}

/** The form of the answer. Throws `not_acceptable` if the client takes none that the route has. */
export function formOf(route: Route, accept: string | undefined): "json" | "stream" {
  const json = acceptance(accept, "application/json");
  const stream = acceptance(accept, "text/event-stream");
  switch (route.stream) {
    case "asked":
      // Named, not merely covered by a wildcard: the default of this route is one answer.
      if (stream > 0 && /text\/event-stream/i.test(accept ?? "") && stream >= json) return "stream";
      if (json > 0) return "json";
      throw notAcceptable("application/json or text/event-stream");
    case "preferred":
      if (stream > 0 && stream >= json) return "stream";
      if (json > 0) return "json";
      throw notAcceptable("text/event-stream or application/json");
    case "always":
      if (stream > 0) return "stream";
      throw notAcceptable("text/event-stream");
    case "named": // by what is read next
      return "json";
    case "never":
      if (json > 0 || !answersJson(route)) return "json";
      throw notAcceptable("application/json");
    default:
      return route.stream satisfies never;
  }
}

/** The form of an answer whose request names it in its query or body. */
export function namedForm(query: unknown, body: unknown): "json" | "stream" {
  const isAsked = (value: unknown): boolean => isJsonObject(value) && value["stream"] === true;
  return isAsked(query) || isAsked(body) ? "stream" : "json";
}

function answersJson({ answers }: Route): boolean {
  return Object.values(answers).some(({ json }) => json !== undefined);
}

function notAcceptable(types: string): Problem {
  return new Problem("not_acceptable", `this address answers ${types}`);
}

/** Milliseconds of `Prefer: wait=<seconds>`, at most so many. 0 without one. */
export function waitOf(prefer: string | undefined, mostMs: number): number {
  const [, seconds] = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})"?/i.exec(prefer ?? "") ?? [];
  return seconds === undefined ? 0 : Math.min(Number(seconds) * 1_000, mostMs);
}

const wellFormed = new RegExp(keyPattern);

/** The idempotency key of a request, without quotes. Throws `invalid_key` if it is missing where needed. */
export function keyOf(route: Route, header: string | undefined): string | undefined {
  if (route.key === "none") return undefined;
  if (header === undefined) {
    if (route.key === "optional") return undefined;
    throw invalidKey("send an Idempotency-Key, and keep it for repeats");
  }
  const [, quoted] = /^"(.*)"$/.exec(header) ?? [];
  const key = quoted ?? header;
  if (wellFormed.test(key)) return key;
  throw invalidKey("an Idempotency-Key has 16 to 128 letters, digits or -");
}

function invalidKey(detail: string): Problem {
  return new Problem("invalid_key", detail);
}

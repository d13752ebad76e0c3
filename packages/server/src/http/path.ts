import { Problem } from "./problem.ts";

/** A request's target in its two halves, as they were sent. */
export interface Target {
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
